#include "life/leaving.hpp"

#include <link.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "life/config.hpp"
#include "life/first_event.hpp"
#include "life/session.hpp"
#include "operators/regions.hpp"
#include "python/cpython.hpp"
#include "record/process.hpp"
#include "system/files.hpp"
#include "system/identity.hpp"
#include "system/log.hpp"

namespace lotus {
namespace {

void tell(Life life) {
  SegmentHeader* const header = process.segment.header;
  if (header == nullptr || process.pid != getpid()) return;
  __atomic_store_n(&header->life, static_cast<std::uint64_t>(life), __ATOMIC_RELEASE);
}

int is_of_torch(dl_phdr_info* loaded, std::size_t, void*) {
  return std::strstr(loaded->dlpi_name, "/libtorch") != nullptr ? 1 : 0;
}

// A child that imports PyTorch takes longer than that, and one that was forked has as much memory. What it
// did may be the program's work, as it is below torchrun: whether there was a batch is not known here.
bool had_working_child() {
  constexpr long kMicroseconds = 500'000, kKilobytes = 64 * 1024;
  rusage usage{};
  if (getrusage(RUSAGE_CHILDREN, &usage) != 0) return true;
  return usage.ru_utime.tv_sec > 0 || usage.ru_utime.tv_usec > kMicroseconds || usage.ru_maxrss > kKilobytes;
}

// Whether a process runs Python with this library: what it starts is part of that program.
bool is_preloaded_python(std::uint32_t pid) {
  char path[64], name[512];
  std::snprintf(path, sizeof path, "/proc/%u/exe", pid);
  const ssize_t size = readlink(path, name, sizeof name - 1);
  if (size <= 0) return false;
  name[size] = '\0';
  const char* const slash = std::strrchr(name, '/');
  if (std::strncmp(slash != nullptr ? slash + 1 : name, "python", 6) != 0) return false;
  static constinit char environment[64 * 1024] = {};
  std::snprintf(path, sizeof path, "/proc/%u/environ", pid);
  return memmem(environment, read_file(path, environment, sizeof environment), "liblotus", 8) != nullptr;
}

bool is_started_by_python() {
  constexpr int kMostAncestors = 8;
  std::uint32_t pid = own_identity().parent;
  for (int i = 0; pid > 1 && i < kMostAncestors; ++i) {
    if (is_preloaded_python(pid)) return true;
    pid = identify(pid).parent;
  }
  return false;
}

// What was wrong with the variables stands in the first line of a trace; here there is none.
void say_why_nothing_was_seen(bool lacks_region, bool lacks_trace) {
  static constinit char line[kRegionNameBytes + sizeof config.complaint + 512] = "";
  const char* const complaint = lacks_trace ? config.complaint : "";
  const char* const separator = complaint[0] != '\0' ? "; " : "";
  if (!lacks_region)
    std::snprintf(line, sizeof line,
                  "no batch was seen, so there is no trace: looked for PyTorch's DataLoader, its subclasses "
                  "and copies, for iterators of installed packages that give tensors, and for the program's "
                  "own that give tensors of two dimensions or more, between which an optimizer of PyTorch's "
                  "steps%s%s",
                  separator, complaint);
  else
    std::snprintf(line, sizeof line,
                  "no call of %s in the main thread was seen (LOTUS_REGION: a function's qualified name, of "
                  "the class that defines it, its module may stand before it; generators and coroutines are "
                  "no regions)%s%s%s",
                  config.region, lacks_trace ? ", and no batch, so there is no trace" : "", separator,
                  complaint);
  say(line);
}

// A person who preloaded us looks for a trace: a program that ran to its end without one says why.
void say_if_nothing_was_seen() {
  static constinit bool said = false;
  const bool attached = py::layout != nullptr && !config.off && !process.off;
  if (said || !attached || process.generation != 0) return;
  const bool lacks_trace = process.segment.header == nullptr;
  const bool lacks_region = config.region != nullptr && !region_was_met();
  if (!lacks_trace && !lacks_region) return;
  said = true;
  if (is_helper_process() || has_traced_ancestor() || is_started_by_python() || had_working_child() ||
      dl_iterate_phdr(is_of_torch, nullptr) == 0)
    return;
  say_why_nothing_was_seen(lacks_region, lacks_trace);
}

}  // namespace

void say_leaving_at_once() { tell(Life::leaving); }
void say_staying() { tell(Life::running); }

void say_leaving() {
  say_leaving_at_once();
  say_if_nothing_was_seen();
}

}  // namespace lotus
