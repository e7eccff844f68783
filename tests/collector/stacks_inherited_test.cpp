// Forked processes that refer to the modules of an ancestor.
#include <doctest/doctest.h>

#include <optional>

#include "support/collector_run.hpp"
#include "support/sample_reader.hpp"
#include "support/snapshots.hpp"
#include "support/temporary.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

extern "C" [[gnu::noinline]] void lotus_test_inherited(SnapshotParts& parts) {
  parts = snapshot_here(2048);
  asm volatile("" ::: "memory");
}

struct Family {
  TemporaryDirectory segments, files;
  std::string output = files / "x.lotus";
  ModuleTeller modules;
  std::uint64_t created = 0;  // of the parent
  std::uint32_t pid = 0;

  SegmentPlan dead_plan() const {
    SegmentPlan plan;
    plan.directory = segments.path();
    plan.output = output;
    plan.session_pid = plan.session_start_time = 1;
    std::tie(plan.pid, plan.start_time) = dead_process();
    return plan;
  }
  void parent() {
    SegmentWriter segment(dead_plan());
    modules.tell(segment, 10);
    created = segment.header().created.ticks;
    pid = segment.header().pid;
  }
  // Whose header is as that of a process that was forked later.
  void child(std::uint64_t count, std::optional<std::uint64_t> gone = {}) {
    SegmentWriter segment(dead_plan());
    segment.header().created.ticks = created + 1000;
    push_definition<Kind::modules_of>(segment, 20, pid, created, 10u, count);
    if (gone) push_definition<Kind::module_gone>(segment, 30, *gone);
    SnapshotParts parts;
    lotus_test_inherited(parts);
    REQUIRE(push_snapshot(segment, parts.bytes(), 40));
  }
  std::vector<Sample> samples() const {
    CHECK(drain(segments.path()).code == 0);
    const Trace trace = read_trace(output);
    CHECK(what_is_wrong(trace) == "");
    return read_samples(trace);
  }
};

}  // namespace

TEST_CASE("a child has its parent's modules, whichever is found first") {
  for (int round = 0; round < 4; ++round) {
    Family family;
    family.parent();
    for (int i = 0; i < 3; ++i) family.child(family.modules.count());
    const auto samples = family.samples();
    REQUIRE(samples.size() == 3);
    for (const Sample& sample : samples) CHECK(sample.innermost(1) == "lotus_test_inherited");
  }
}

TEST_CASE("a child of a process that ended under an earlier collector") {
  Family family;
  family.parent();
  CHECK(family.samples().empty());
  family.child(family.modules.count());
  const auto samples = family.samples();
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(1) == "lotus_test_inherited");
}

TEST_CASE("a module that is gone in the child only") {
  Family family;
  family.parent();
  family.child(family.modules.count(), 1);  // the program itself
  family.child(family.modules.count());
  const auto samples = family.samples();
  REQUIRE(samples.size() == 2);
  const bool first_lacks = samples[0].innermost(1) != "lotus_test_inherited";
  CHECK(first_lacks != (samples[1].innermost(1) != "lotus_test_inherited"));
}

TEST_CASE("an ancestor that is not known leaves the sample without names") {
  Family family;
  family.pid = 1;
  family.created = 12345;
  family.child(300);
  const auto samples = family.samples();
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(1) != "lotus_test_inherited");
}

TEST_CASE("an ancestor of which less is known than is referred to") {
  Family family;
  family.parent();
  family.child(family.modules.count() + 5);
  const auto samples = family.samples();
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(1) == "lotus_test_inherited");
}
