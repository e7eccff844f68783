// A trace file with arbitrary content: it can be read, and `recover` writes a complete trace. The other
// commands are in fuzz_commands.cpp.
#include <nlohmann/json.hpp>

#include "answers/info/description.hpp"
#include "answers/report/report.hpp"
#include "answers/stacks/map_views.hpp"
#include "care/recover/account.hpp"
#include "care/redact/redactor.hpp"
#include "fuzz.hpp"
#include "made_trace.hpp"
#include "showing/timeline/chrome.hpp"
#include "showing/timeline/drawing.hpp"
#include "text/error.hpp"
#include "trace_input.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

constexpr std::uint8_t kTimeline = 8;  // a bit of the input's first byte, beside those of fuzz::Mend

class Records : public Visitor {
 public:
  bool wants_records() const override { return true; }
  bool wants_stacks() const override { return true; }
};

void report(Trace& trace) {
  const Findings findings = findings_of(trace);
  fuzz::promise(!report_text(findings, Terminal{}).empty(), "a report says something");
  report_json(findings).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  Records records;
  describe(trace, show(trace, records), KindCounts{});
  Profile profile(trace);
  const Reading sampled = show(trace, profile);
  MapBuilder builder;
  builder.add(trace, profile, sampled);
  map_text(builder.take({}), Terminal{});
}

void draw(Trace& trace) {
  Output out("/dev/null");
  Lanes lanes;
  Outline outline(lanes);
  const Reading reading = show(trace, outline);
  outline.settle();
  ChromeTimeline chrome(trace.source.path(), start_of(trace, reading), lanes, out);
  Drawing drawing(trace, outline, lanes, reading, false, chrome);
  show(trace, drawing);
  chrome.finish(nullptr);
}

void recover(const std::string& path) {
  const fuzz::MemoryFile copy;
  const Source source(path);
  const Contents contents(source);
  Output out(copy.path());
  const Rebuilt rebuilt = write_recovered(source, contents, out);
  out.close();
  account_text(account_json(source, copy.path(), contents, rebuilt));
  Trace recovered(copy.path());
  Records records;
  const Reading reading = show(recovered, records);
  fuzz::promise(!recovered.truncated() && recovered.damage.count == 0, "what was recovered is whole");
  fuzz::promise(reading.damage.count == 0 || reading.damage.events == 0, "so are its chunks");
}

void redact(const Trace& trace) {
  Hasher hasher("key");
  Output out("/dev/null");
  Redactor(trace, hasher, out).run();
  out.close();
}

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
  std::vector<Bytes> all;
  for (const Bytes& trace : {small_trace(Codec::raw), small_trace(Codec::zstd), pipeline_trace()}) {
    Bytes seed{kHeader | kChecks | kSizes | kTimeline};
    seed.insert(seed.end(), trace.begin(), trace.end());
    all.push_back(std::move(seed));
  }
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t mode = data[0];
  fuzz::Bytes bytes(data + 1, data + size);
  fuzz::mend_trace(bytes, mode);
  const fuzz::MemoryFile file(bytes);
  try {
    recover(file.path());
  } catch (const Unusable&) {
  }
  try {
    Trace trace(file.path());
    report(trace);
    redact(trace);
    if ((mode & kTimeline) != 0) draw(trace);
  } catch (const Unusable&) {
  }
  return 0;
}
