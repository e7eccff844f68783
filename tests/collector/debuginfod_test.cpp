// Servers of debugging information are asked only if the user names some.
#include <doctest/doctest.h>

#include <sstream>

#include "names/named_library.hpp"
#include "support/collector_run.hpp"
#include "support/sample_reader.hpp"
#include "support/snapshots.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

// Replaces the client library: opens the file that LOTUS_TEST_DEBUG names, and creates LOTUS_TEST_ASKED to
// show that it was called.
constexpr const char* kClient = R"(
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
void* debuginfod_begin(void) { return malloc(1); }
void debuginfod_end(void* client) { free(client); }
int debuginfod_find_executable(void* client, const unsigned char* id, int size, char** path) {
  (void)client, (void)id, (void)size, (void)path;
  return -2;
}
int debuginfod_find_debuginfo(void* client, const unsigned char* id, int size, char** path) {
  (void)client, (void)path;
  close(open(getenv("LOTUS_TEST_ASKED"), O_CREAT | O_WRONLY, 0600));
  return id != 0 && size == 20 ? open(getenv("LOTUS_TEST_DEBUG"), O_RDONLY) : -2;
}
)";

struct Place {
  Library library;
  TemporaryDirectory segments, files, client;
  std::string output = files / "x.lotus";
  std::string asked = files / "asked";
  std::uint64_t hidden = library.functions.at("_ZL6hiddeni").begin;

  // Makes a library without symbols, its debugging information, which only the server has, and a snapshot
  // taken in the library.
  Place() {
    const std::string debug = files / "served.debug";
    output_of("objcopy --only-keep-debug " + library.path + " " + debug + " && strip --strip-all " +
              library.path);
    write_text(client / "client.c", kClient);
    output_of(LOTUS_TEST_CC " -shared -fPIC -o " + (client / "libdebuginfod.so.1") + " " +
              (client / "client.c"));
    SegmentPlan plan;
    plan.directory = segments.path();
    plan.output = output;
    std::tie(plan.pid, plan.start_time) = dead_process();
    SegmentWriter segment(plan);
    constexpr std::uint64_t kStart = 0x7f00'0000'0000;
    const std::string id = collector::ElfFile::open(library.path)->build_id();
    push_definition<Kind::module>(segment, 1, 1u, kStart, kStart + 0x10000, kStart, library.path, id);
    SnapshotParts parts = snapshot_here(256);
    parts.registers[kOwnRegisters.program_counter] = kStart + hidden;
    REQUIRE(push_snapshot(segment, parts.bytes(), 100));
  }

  std::string innermost(std::vector<std::string> environment) const {
    for (const std::string& setting : {"LD_LIBRARY_PATH=" + client.path(), "LOTUS_TEST_ASKED=" + asked,
                                       "LOTUS_TEST_DEBUG=" + (files / "served.debug")})
      environment.push_back(setting);
    CollectorProgram collector({"--drain", "--dir", segments.path()}, files / "log", environment);
    CHECK(collector.wait().code == 0);
    const auto samples = read_samples(read_trace(output));
    return samples.size() == 1 ? samples[0].innermost(1) : "";
  }
};

}  // namespace

TEST_CASE("with DEBUGINFOD_URLS the server's debugging information names what is stripped") {
  const Place place;
  CHECK(place.innermost({"DEBUGINFOD_URLS=http://127.0.0.1:1"}) == "hidden(int)");
  CHECK(exists(place.asked));
}

TEST_CASE("without it nobody is asked") {
  const Place place;
  std::ostringstream name;
  name << "libshapes.so!0x" << std::hex << place.hidden;
  CHECK(place.innermost({"DEBUGINFOD_URLS="}) == name.str());
  CHECK_FALSE(exists(place.asked));
}
