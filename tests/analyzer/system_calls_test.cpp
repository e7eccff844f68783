// Functions of the C library that are system calls are told in words.
#include <doctest/doctest.h>

#include "answers/report/system_calls.hpp"

using namespace lotus::analyzer;

TEST_CASE("a system call is told in words, by each of glibc's names for it") {
  CHECK(in_words("__GI___getdents64") == "listing a directory: getdents64");
  CHECK(in_words("getdents64") == "listing a directory: getdents64");
  CHECK(in_words("__libc_read") == "reading: read");
  CHECK(in_words("__GI___open64_nocancel") == "opening a file: open64");
  CHECK(in_words("fsync") == "waiting for the disk: fsync");
  CHECK(in_words("clock_nanosleep@@GLIBC_2.17") == "sleeping: clock_nanosleep");
}

TEST_CASE("other functions keep their names") {
  CHECK(in_words("__memcpy_avx_unaligned") == "__memcpy_avx_unaligned");
  CHECK(in_words("reader") == "reader");
  CHECK(in_words("") == "");
}
