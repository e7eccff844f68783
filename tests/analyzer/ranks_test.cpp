// The ranks of a run side by side: which rank delays the others, and by which operation.
#include "answers/ranks/ranks.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "answers/ranks/collector.hpp"
#include "made_trace.hpp"
#include "reading/model/model.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

constexpr std::uint64_t kWorld = 3;

void step(ThreadWriter& main, double from, double waited, std::uint64_t batch) {
  main.record<Kind::next>(at(from), 1, 0);
  main.record<Kind::wait>(at(from), 1, 0);
  get(main, from, from + waited - 0.5, 1, 0, batch, batch);
  span<Kind::consume>(main, from + waited - 0.25, from + waited, 1, 0, batch);
  main.record<Kind::leave>(at(from + waited));
  main.record<Kind::leave>(at(from + waited));
}

// A rank with two batches of one sample. The sample's only operation took `read` ms, and training waited
// `waited` ms for each batch.
Bytes rank_of_two_batches(std::uint64_t rank, double waited, double read) {
  MadeTrace made;
  made.define<Kind::rank>(1, at(0), rank, kWorld, std::int64_t{0});
  made.loader(1, 1);
  made.iterator(1, 1);
  const std::uint32_t number = made.worker(1, 0);
  made.op(number, 1, OpRole::transform, "Read");
  ThreadWriter worker(made, number, 1);
  ThreadWriter main(made, 1, 1);
  worker.record<Kind::worker_loop>(at(0), 0, 1);
  for (std::uint64_t batch = 0; batch < 2; ++batch) {
    const double from = 1 + 100 * static_cast<double>(batch);
    worker.record<Kind::fetch>(at(from), 0, 0, batch);
    worker.record<Kind::sample>(at(from), std::int64_t{0});
    span<Kind::op>(worker, from, from + read, 1);
    worker.record<Kind::leave>(at(from + read));
    worker.record<Kind::leave>(at(from + read + 1));
  }
  worker.record<Kind::leave>(at(250));
  step(main, 0, waited, 0);
  step(main, 100, waited, 1);
  main.record<Kind::next>(at(200), 1, 0);
  main.record<Kind::leave_empty>(at(201));
  worker.flush();
  main.flush();
  made.close(300);
  return made.bytes;
}

struct Traces {
  std::deque<TemporaryFile> files;
  std::deque<Trace> traces;
  RankFindings findings;

  // One trace per rank; `ranks` has {waited, read} in ms.
  explicit Traces(const std::vector<std::pair<double, double>>& ranks) {
    RankCollector collector;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      files.emplace_back(rank_of_two_batches(rank, ranks[rank].first, ranks[rank].second));
      traces.emplace_back(files.back().path());
      collector.begin(traces.back());
      show(traces.back(), collector);
      collector.end();
    }
    findings = collector.take();
  }
};

}  // namespace

TEST_CASE("the numbers of each rank") {
  const Traces made({{10, 4}, {20, 5}});
  REQUIRE(made.findings.ranks.size() == 2);
  CHECK(made.findings.world == kWorld);
  const RankFinding& rank = made.findings.ranks[1];
  CHECK(rank.rank == 1);
  CHECK(rank.host == "machine");
  CHECK(rank.batches == 2);
  CHECK(rank.samples == 2);
  CHECK(rank.workers.size() == 1);
  CHECK(rank.next == doctest::Approx(41e6));  // 20, 20, and 1 for the end
  CHECK(rank.loop == doctest::Approx(201e6));
  CHECK(rank.step.count == 2);
  CHECK(rank.step.mean() == doctest::Approx(80e6));
  CHECK(rank.fetch.mean() == doctest::Approx(6e6));
  CHECK(rank.ops.at("Read").count == 2);
  CHECK(rank.ops.at("Read").mean() == doctest::Approx(5e6));
  CHECK(rank.images_per_s().value() == doctest::Approx(2 / 0.201));
}

TEST_CASE("the rank that waits longest holds the others up") {
  const Traces made({{10, 4}, {60, 50}, {12, 6}});
  const auto straggler = straggler_of(made.findings);
  REQUIRE(straggler);
  CHECK(straggler->rank->rank == 1);
  CHECK(straggler->others_next == doctest::Approx(12e6));  // median of 11 and 13
  CHECK(straggler->op == "Read");
  CHECK(straggler->op_mean == doctest::Approx(50e6));
  CHECK(straggler->others_op_mean == doctest::Approx(5e6));
  CHECK(straggler_message(made.findings, straggler) ==
        "Rank 1 holds the others up: it waited 61.0 ms of 141 ms for its data, the others 12.0 ms (median); "
        "first batches of epochs left out. "
        "Read takes 50.0 ms a call there, 5.00 ms elsewhere.");
  const auto json = ranks_json(made.findings);
  CHECK(json["straggler"]["op"]["name"] == "Read");
  CHECK(json["ranks"].size() == 3);
}

TEST_CASE("a straggler without a slow operation") {
  const Traces made({{10, 4}, {60, 4}});
  const auto straggler = straggler_of(made.findings);
  REQUIRE(straggler);
  CHECK(straggler->op.empty());
  CHECK(straggler_message(made.findings, straggler).find("No operation of its own") != std::string::npos);
}

TEST_CASE("ranks that wait alike have no straggler") {
  CHECK_FALSE(straggler_of(Traces({{10, 4}, {12, 5}}).findings));
  CHECK_FALSE(straggler_of(Traces({{60, 5}}).findings));
  const Traces alone({{60, 5}});
  CHECK(straggler_message(alone.findings, std::nullopt).find("Only rank 0 of 3") == 0);
}

TEST_CASE("operations of which the ranks differ come first, tables fit") {
  const Traces made({{10, 4}, {60, 50}, {12, 6}});
  const auto ops = ops_of_ranks(made.findings);
  REQUIRE(ops.size() == 1);
  CHECK(ops[0].calls == 6);
  CHECK(ops[0].slowest_rank == 1);
  CHECK(ops[0].median == doctest::Approx(6e6));
  for (const std::size_t width : {40, 80, 200}) {
    const std::string text = ranks_text(made.findings, Terminal{width, false});
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      CHECK(end - begin <= width + 20);  // in bytes: the characters of bars have several
  }
}
