// Binaries: one for each build id, read from the file system of the process that has it loaded.
#include "stacks/binaries.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "names/named_library.hpp"
#include "support/collector_run.hpp"

using namespace lotus::collector;
using namespace lotus::test;

TEST_CASE("the same build under two paths is one binary, another build is another") {
  Binaries binaries;
  const BinaryId first = binaries.add("/a/lib.so", "aa", 1);
  CHECK(binaries.add("/b/lib.so", "aa", 2) == first);
  CHECK(binaries.add("/a/lib.so", "bb", 1) != first);
  CHECK(binaries.info(first).path == "/a/lib.so");
}

TEST_CASE("without a build id the path tells binaries apart") {
  Binaries binaries;
  const BinaryId first = binaries.add("/a/lib.so", "", 1);
  CHECK(binaries.add("/a/lib.so", "", 2) == first);
  CHECK(binaries.add("/b/lib.so", "", 1) != first);
}

TEST_CASE("numbers that a damaged trace gives take no more memory than so many binaries") {
  Binaries binaries;
  CHECK(binaries.restore(1, "/a/lib.so", "aa"));
  CHECK(!binaries.restore(0, "/b/lib.so", "bb"));
  CHECK(!binaries.restore(UINT32_MAX, "/b/lib.so", "bb"));
  BinaryId last = 1;
  while (binaries.restore(last + 4000, "/b/lib.so", "bb")) last += 4000;
  CHECK(binaries.count() == last);
  CHECK(last <= kMaxBinaries);
  CHECK(binaries.info(1).path == "/a/lib.so");
}

TEST_CASE("a file that one process does not show is looked for with the next process") {
  const Library library;
  const std::string id = ElfFile::open(library.path)->build_id();
  Binaries binaries;
  const std::string moved = library.path + ".moved";
  const BinaryId binary = binaries.add(moved, id, 1);
  CHECK(binaries.file(binary) == nullptr);
  output_of("cp " + library.path + " " + moved);
  CHECK(binaries.file(binary) == nullptr);  // it is not looked for again
  binaries.add(moved, id, 2);
  CHECK(binaries.file(binary) != nullptr);
}

TEST_CASE("a process with another root directory: its own files") {
  const Library library;
  const std::string id = ElfFile::open(library.path)->build_id();
  const std::string ready = library.place / "ready";
  const pid_t child = in_child([&] {
    if (chroot(library.place.path().c_str()) == 0)
      write_text("/ready", "chroot");
    else
      write_text(ready, "no");
    pause();
  });
  REQUIRE(eventually([&] { return !read_text(ready).empty(); }));
  if (read_text(ready) == "chroot") {
    Binaries binaries;
    const ElfFile* file = binaries.file(binaries.add("/libshapes.so", id, static_cast<std::uint32_t>(child)));
    CHECK(file != nullptr);
  } else {
    MESSAGE("skipped: only root may change the root directory");
  }
  kill(child, SIGKILL);
  wait_for(child);
}
