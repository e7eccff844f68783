// A trace file with anything in it: every command reads it, and what `recover` writes is whole.
#include <nlohmann/json.hpp>

#include "fuzz.hpp"
#include "info/description.hpp"
#include "made_trace.hpp"
#include "recover/account.hpp"
#include "redact/redactor.hpp"
#include "report/report.hpp"
#include "stacks/map_views.hpp"
#include "timeline/chrome.hpp"
#include "timeline/drawing.hpp"
#include "trace/error.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

// The first byte of an input: which of the things that a fuzzer cannot guess are set right.
enum Mend : std::uint8_t { kHeader = 1, kChecks = 2, kSizes = 4, kTimeline = 8 };

void mend_header(fuzz::Bytes& file) {
  auto header = fuzz::read_at<FileHeader>(file, 0);
  std::memcpy(header.magic, kTraceMagic, sizeof header.magic);
  header.version = kTraceVersion;
  header.header_bytes = sizeof header;
  header.tick_shift %= 21;
  header.clock_source = static_cast<ClockSource>(static_cast<std::uint32_t>(header.clock_source) & 1);
  fuzz::write_at(file, 0, header);
}

// Whatever begins like a frame gets the right check and, where asked for, sizes that fit.
void mend_frames(fuzz::Bytes& file, bool sizes) {
  for (std::size_t at = sizeof(FileHeader); at + sizeof(FrameHeader) <= file.size(); ++at) {
    auto header = fuzz::read_at<FrameHeader>(file, at);
    if (header.magic != kFrameMagic) continue;
    const auto rest = static_cast<std::uint32_t>(file.size() - at - sizeof header);
    if (sizes) header.stored_bytes = std::min(header.stored_bytes, rest);
    if (sizes && header.codec == Codec::raw) header.raw_bytes = header.stored_bytes;
    header.check = frame_check(header);
    fuzz::write_at(file, at, header);
  }
}

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
  ChromeTimeline chrome(trace, outline, lanes, reading, false, out);
  chrome.begin(nullptr);
  show(trace, chrome);
  chrome.end();
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
  for (const Codec codec : {Codec::raw, Codec::zstd}) {
    MadeTrace made;
    made.codec = codec;
    made.loader(1, 1);
    made.iterator(1, 1);
    made.define<Kind::epoch>(1, at(0), 1, 0, 0);
    const std::uint32_t number = made.worker(1, 0);
    made.op(number, 1, OpRole::loader, "Loader");
    made.define<Kind::binary>(0, at(1), 1, "/lib/libjpeg.so", "01");
    made.define<Kind::function>(0, at(1), 1, "decode", 1, "j.c", 3, NameSource::dwarf);
    made.define<Kind::location>(0, at(1), 1, 1, 4096);
    made.define<Kind::frame>(0, at(1), 1, 0, 1, 5);
    made.define<Kind::stack>(0, at(1), 1, 0, 1);
    ThreadWriter worker(made, number, 1);
    ThreadWriter main(made, 1, 1);
    for (std::uint64_t batch = 0; batch < 2; ++batch) {
      const double t = 20.0 * static_cast<double>(batch);
      main.record<Kind::next>(at(t), 1, 0);
      main.record<Kind::wait>(at(t), 1, 0);
      worker.record<Kind::fetch>(at(t + 1), 0, 0, batch);
      worker.record<Kind::sample>(at(t + 1), static_cast<std::int64_t>(batch));
      worker.path(at(t + 1), "/data/" + std::to_string(batch) + ".jpg");
      span<Kind::op>(worker, t + 2, t + 6, 1);
      worker.record<Kind::leave>(at(t + 7));
      worker.record<Kind::leave>(at(t + 8));
      get(main, t, t + 9, 1, 0, batch, batch);
      span<Kind::consume>(main, t + 9, t + 10, 1, 0, batch);
      main.record<Kind::leave>(at(t + 10));
      main.record<Kind::leave>(at(t + 10));
      worker.flush();
      if (batch == 0) main.flush();
    }
    main.flush();
    FrameHeader samples = analyzer::TraceWriter::head_of(FrameType::samples, number);
    samples.base_ticks = at(3);
    samples.events = 1;
    analyzer::Bytes body(64);
    body.resize(static_cast<std::size_t>(encode<Kind::stack_sample>(body.data(), 0, 101u, 1u, 1u, 0u, 1u) -
                                         body.data()));
    made.frame(samples, body);
    made.close();
    Bytes seed{kHeader | kChecks | kSizes | kTimeline};
    seed.insert(seed.end(), made.bytes.begin(), made.bytes.end());
    all.push_back(std::move(seed));
  }
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t mode = data[0];
  fuzz::Bytes bytes(data + 1, data + size);
  if ((mode & kHeader) != 0) mend_header(bytes);
  if ((mode & kChecks) != 0) mend_frames(bytes, (mode & kSizes) != 0);
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
