#include "answers/report/system_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lotus::analyzer {
namespace {

struct SystemCall {
  std::string_view name;  // without the 64 of large files
  const char* words;
};
constexpr SystemCall kSystemCalls[] = {
    {"getdents", "listing a directory"},
    {"open", "opening a file"},
    {"openat", "opening a file"},
    {"stat", "looking at files"},
    {"lstat", "looking at files"},
    {"fstatat", "looking at files"},
    {"statx", "looking at files"},
    {"access", "looking at files"},
    {"read", "reading"},
    {"pread", "reading"},
    {"write", "writing"},
    {"pwrite", "writing"},
    {"fsync", "waiting for the disk"},
    {"fdatasync", "waiting for the disk"},
    {"flock", "waiting for a file's lock"},
    {"lockf", "waiting for a file's lock"},
    {"fcntl", "waiting for a file's lock"},
    {"nanosleep", "sleeping"},
    {"clock_nanosleep", "sleeping"},
    {"usleep", "sleeping"},
    {"sleep", "sleeping"},
    {"recv", "reading a socket"},
    {"recvfrom", "reading a socket"},
    {"recvmsg", "reading a socket"},
    {"send", "writing to a socket"},
    {"sendto", "writing to a socket"},
    {"sendmsg", "writing to a socket"},
    {"connect", "connecting"},
    {"accept", "waiting for a connection"},
    {"accept4", "waiting for a connection"},
    {"getaddrinfo", "looking up a host"},
    {"poll", "waiting for data"},
    {"ppoll", "waiting for data"},
    {"select", "sleeping or waiting for data"},
    {"pselect", "sleeping or waiting for data"},
    {"epoll_wait", "waiting for data"},
    {"epoll_pwait", "waiting for data"},
    {"wait", "waiting for a child process"},
    {"wait3", "waiting for a child process"},
    {"wait4", "waiting for a child process"},
    {"waitpid", "waiting for a child process"},
    {"waitid", "waiting for a child process"},
    {"sem_wait", "waiting for a lock"},
    {"sem_timedwait", "waiting for a lock"},
    {"sem_clockwait", "waiting for a lock"},
    {"pthread_cond_wait", "waiting for another thread"},
    {"pthread_cond_timedwait", "waiting for another thread"},
    {"pthread_cond_clockwait", "waiting for another thread"},
    {"pthread_join", "waiting for a thread's end"},
    {"munmap", "giving memory back"},
    {"madvise", "giving memory back"},
};

void drop_prefix(std::string_view& name, std::string_view prefix) {
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
}
void drop_suffix(std::string_view& name, std::string_view suffix) {
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
}

// glibc's own names for it: __GI___getdents64, __libc_read, __open64_nocancel, nanosleep@@GLIBC_2.2.5.
std::string_view plain_call_name(std::string_view name) {
  name = name.substr(0, name.find('@'));
  drop_prefix(name, "__GI_");
  while (name.starts_with('_')) name.remove_prefix(1);
  drop_prefix(name, "libc_");
  drop_suffix(name, "_nocancel");
  return name;
}

}  // namespace

std::string in_words(std::string_view function) {
  const std::string_view name = plain_call_name(function);
  std::string_view call = name;
  drop_suffix(call, "64");
  const auto* const found = std::find_if(std::begin(kSystemCalls), std::end(kSystemCalls),
                                         [&](const SystemCall& row) { return row.name == call; });
  return found == std::end(kSystemCalls) ? std::string(function) : fmt::format("{}: {}", found->words, name);
}

}  // namespace lotus::analyzer
