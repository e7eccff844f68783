// Chunks and definitions of random bytes must not crash the reader. Most useful with the sanitizers.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "answers/info/description.hpp"
#include "answers/report/report.hpp"
#include "answers/stacks/map_views.hpp"
#include "made_trace.hpp"
#include "reading/model/fan.hpp"
#include "showing/html/page.hpp"
#include "showing/timeline/chrome.hpp"
#include "showing/timeline/drawing.hpp"
#include "showing/timeline/perfetto.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

constexpr std::uint8_t kHugeVarint[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};

// Bytes that look mostly like records: known kinds with random field values.
Bytes nearly_records(std::mt19937_64& random) {
  Bytes bytes;
  for (int i = 0; i < 200; ++i) {
    const KindInfo& kind = kKinds[random() % std::size(kKinds)];
    const FieldList fields = parse_fields(kind.fields);
    bytes.push_back(random() % 50 == 0 ? static_cast<std::uint8_t>(random()) : kind.code);
    for (std::size_t field = 0; field < 1 + fields.count; ++field) {
      if (random() % 10 == 0)
        bytes.insert(bytes.end(), std::begin(kHugeVarint), std::end(kHugeVarint));
      else
        bytes.push_back(static_cast<std::uint8_t>(random() % 3));
      if (field > 0 && fields.types[field - 1] == 's') bytes.insert(bytes.end(), bytes.back() & 3u, 'p');
    }
  }
  return bytes;
}

Bytes garbage(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  MadeTrace made;
  made.loader(1, 1);
  made.iterator(1, 1);
  made.worker(1, 0);
  for (std::uint64_t sequence = 1; sequence < 6; ++sequence) {
    for (const FrameType type : {FrameType::chunk, FrameType::definitions, FrameType::samples}) {
      FrameHeader head = frame_header(type, static_cast<std::uint32_t>(random() % 4));
      head.stream = 1 + static_cast<std::uint32_t>(random() % 2);
      head.sequence = sequence;
      head.base_ticks = random() % 4 == 0 ? random() : at(1);
      head.lost_before = random() % 5 == 0 ? random() : 0;
      made.frame(head, nearly_records(random));
    }
  }
  ProcessEndFrame end{};
  end.lost_events = random();
  end.flush_ticks = random();
  made.process_end(1, end);
  if (random() % 2 == 0) made.trailer(pair_at(100));
  return made.bytes;
}

class Discard : public Visitor {
 public:
  bool wants_records() const override { return true; }
};

}  // namespace

TEST_CASE("garbage in well-formed frames breaks nothing") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const TemporaryFile file(garbage(seed));
    Trace trace(file.path());
    const Findings findings = findings_of(trace);
    CHECK_FALSE(report_text(findings, Terminal{}).empty());
    CHECK(report_json(findings).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).size() > 100);
    Discard discard;
    CHECK(describe(trace, show(trace, discard), KindCounts{}).contains("damaged"));
    Profile profile(trace);
    const Reading sampled = show(trace, profile);
    MapBuilder builder;
    builder.add(trace, profile, sampled);
    const FunctionMap map = builder.take({});
    CHECK_FALSE(map_text(map, Terminal{}).empty());
    CHECK(full_map_json(map).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).size() > 100);
    Page page;
    Fan fan(page.visitors(trace));
    page.add(trace, show(trace, fan));
    Output out("/dev/null");
    page.write(out, findings);
    Lanes lanes;
    Outline outline(lanes);
    const Reading reading = show(trace, outline);
    outline.settle();
    ChromeTimeline chrome(trace.source.path(), start_of(trace, reading), lanes, out);
    PerfettoTimeline perfetto(0, lanes, out);
    for (TimelineSink* timeline :
         {static_cast<TimelineSink*>(&chrome), static_cast<TimelineSink*>(&perfetto)}) {
      Drawing drawing(trace, outline, lanes, reading, false, *timeline);
      show(trace, drawing);
      timeline->finish(nullptr);
    }
  }
}
