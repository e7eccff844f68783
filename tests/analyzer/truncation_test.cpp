// Traces cut off at any byte.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "answers/report/report.hpp"
#include "made_trace.hpp"
#include "text/error.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

Bytes small_run(Codec codec) {
  MadeTrace made;
  made.codec = codec;
  made.loader(1, 1);
  made.iterator(1, 1);
  made.define<Kind::epoch>(1, at(0), 1, 0, 0);
  const std::uint32_t number = made.worker(1, 0);
  made.op(number, 1, OpRole::loader, "Loader");
  ThreadWriter worker(made, number, 1);
  ThreadWriter main(made, 1, 1);
  for (std::uint64_t batch = 0; batch < 3; ++batch) {
    const double t = 20.0 * static_cast<double>(batch);
    worker.record<Kind::fetch>(at(t + 1), 0, 0, batch);
    worker.record<Kind::sample>(at(t + 1), static_cast<std::int64_t>(batch));
    worker.path(at(t + 1), "/data/" + std::to_string(batch) + ".jpg");
    span<Kind::op>(worker, t + 2, t + 6, 1);
    worker.record<Kind::leave>(at(t + 7));
    worker.record<Kind::leave>(at(t + 8));
    main.record<Kind::next>(at(t), 1, 0);
    main.record<Kind::wait>(at(t), 1, 0);
    get(main, t, t + 9, 1, 0, batch, batch);
    span<Kind::consume>(main, t + 9, t + 10, 1, 0, batch);
    main.record<Kind::leave>(at(t + 10));
    main.record<Kind::leave>(at(t + 10));
    worker.flush();
    main.flush();
  }
  made.close();
  return made.bytes;
}

void check_plausible(const Findings& findings, std::size_t cut) {
  for (const auto& op : findings.ops)
    CHECK_MESSAGE(op.wall.sum() == 4e6 * static_cast<double>(op.wall.count()), cut);
  CHECK_MESSAGE(findings.fetch.sum() == 7e6 * static_cast<double>(findings.fetch.count()), cut);
  CHECK_MESSAGE(findings.wait.sum() == 9e6 * static_cast<double>(findings.wait.count()), cut);
  CHECK_MESSAGE(findings.delay.sum() == 2e6 * static_cast<double>(findings.delay.count()), cut);
  CHECK_MESSAGE(findings.train_step.sum() == 10e6 * static_cast<double>(findings.train_step.count()), cut);
  CHECK_MESSAGE(findings.duration <= 60e6, cut);
}

}  // namespace

TEST_CASE("cut off at any byte: read as far as it goes, and said so") {
  for (const Codec codec : {Codec::zstd, Codec::raw}) {
    const Bytes whole = small_run(codec);
    std::uint64_t most = 0;
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      const TemporaryFile file(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)));
      if (cut < sizeof(FileHeader)) {
        CHECK_THROWS_AS(Trace(file.path()), Unusable);
        continue;
      }
      Trace trace(file.path());
      const Findings findings = findings_of(trace);
      CHECK_MESSAGE(findings.quality.truncated, cut);
      CHECK_MESSAGE(findings.quality.damage.count == 0, cut);
      CHECK_MESSAGE(findings.fetch.count() >= most, cut);  // a longer file never gives fewer results
      most = findings.fetch.count();
      check_plausible(findings, cut);
      const std::string text = report_text(findings, Terminal{});
      CHECK_MESSAGE(text.find("truncated") != std::string::npos, cut);
      CHECK_MESSAGE(report_json(findings)["trace"]["truncated"] == true, cut);
    }
    CHECK(most == 3);
    const TemporaryFile file(whole);
    Trace trace(file.path());
    const Findings findings = findings_of(trace);
    CHECK_FALSE(findings.quality.truncated);
    check_plausible(findings, whole.size());
    CHECK(findings.fetch.count() == 3);
  }
}

TEST_CASE("workers of which nothing is here: missing while the file is not complete, idle in one that is") {
  MadeTrace made;
  made.loader(1, 2);
  made.iterator(1, 1);
  made.worker(1, 0);
  ThreadWriter worker(made, made.worker(1, 1), 1);
  span<Kind::fetch>(worker, 1, 2, 0, 0, 0);
  worker.flush();
  const auto missing = [](const Bytes& bytes) {
    const TemporaryFile file(bytes);
    Trace trace(file.path());
    return findings_of(trace).quality.missing_workers;
  };
  CHECK(missing(made.bytes) == 1);
  made.close();
  CHECK(missing(made.bytes) == 0);
}
