#include "trace_input.hpp"

#include <algorithm>

#include "made_stacks.hpp"
#include "made_trace.hpp"

namespace lotus::fuzz {
namespace {

using namespace lotus::analyzer::test;
using analyzer::ThreadWriter;

constexpr std::uint64_t kBatches = 12, kWorkers = 2;
constexpr double kStep = 20;  // ms between batches

void mend_header(Bytes& file) {
  auto header = read_at<FileHeader>(file, 0);
  std::memcpy(header.magic, kTraceMagic, sizeof header.magic);
  header.version = kTraceVersion;
  header.header_bytes = sizeof header;
  header.tick_shift %= 21;
  header.clock_source = static_cast<ClockSource>(static_cast<std::uint32_t>(header.clock_source) & 1);
  write_at(file, 0, header);
}

// Corrects the checksum of everything that begins like a frame and, with `sizes`, its sizes.
void mend_frames(Bytes& file, bool sizes) {
  for (std::size_t at = sizeof(FileHeader); at + sizeof(FrameHeader) <= file.size(); ++at) {
    auto header = read_at<FrameHeader>(file, at);
    if (header.magic != kFrameMagic) continue;
    const auto rest = static_cast<std::uint32_t>(file.size() - at - sizeof header);
    if (sizes) header.stored_bytes = std::min(header.stored_bytes, rest);
    if (sizes && header.codec == Codec::raw) header.raw_bytes = header.stored_bytes;
    header.check = frame_check(header);
    write_at(file, at, header);
  }
}

// Records the samples and operations of one batch in its worker.
void fetch(ThreadWriter& worker, double t, std::uint64_t batch) {
  worker.record<Kind::fetch>(at(t), 0, 0, batch);
  if (batch % 2 == 1) worker.record<Kind::no_operators>(at(t));
  for (const std::int64_t sample : {0, 1}) {
    const double begin = t + 5 * static_cast<double>(sample);
    worker.record<Kind::sample>(at(begin), static_cast<std::int64_t>(2 * batch) + sample);
    worker.path(at(begin), "/data/" + std::to_string(batch) + ".jpg");
    worker.record<Kind::op>(at(begin), 1);
    worker.record<Kind::native>(at(begin + 1), 1, 4, 300'000, 4096);
    if (batch % 2 == 0) worker.record<Kind::native>(at(begin + 1), 2, 20, 200'000, 0);
    worker.record<Kind::cpu>(at(begin + 2), 1'500'000);
    worker.record<Kind::leave>(at(begin + 2));
    span<Kind::op>(worker, begin + 2, begin + 4, 2);
    worker.record<Kind::leave>(at(begin + 4));
  }
  span<Kind::op>(worker, t + 10, t + 11, 3);
  worker.record<Kind::leave>(at(t + 12));
  worker.record<Kind::put>(at(t + 12), batch);
  worker.record<Kind::leave>(at(t + 13));
}

// Records the training process's part of one batch.
void take(ThreadWriter& main, double t, std::uint64_t batch) {
  main.record<Kind::next>(at(t), 1, 0);
  main.record<Kind::process_cpu>(at(t), 1'000'000 * batch);
  main.record<Kind::wait>(at(t), 1, 0);
  get(main, t, t + 4, 1, 0, batch, batch);
  span<Kind::consume>(main, t + 4, t + 5, 1, 0, batch);
  main.record<Kind::queued>(at(t + 5), 1, 0, batch + 2, 2);
  main.record<Kind::leave>(at(t + 5));
  main.record<Kind::process_cpu>(at(t + 5), 1'000'000 * batch + 500'000);
  main.record<Kind::leave>(at(t + 5));
}

void sample_stacks(MadeTrace& made, std::uint32_t worker) {
  MadeStacks stacks(made);
  stacks.sampling(worker);
  const std::uint64_t inlined = stacks.inlined({"decode_mcu|libjpeg.so.62", "jpeg_read|libjpeg.so.62"});
  for (int i = 0; i < 4; ++i) {
    stacks.sample(1, {"load|ops.py", "decode_mcu|libjpeg.so.62"});
    stacks.sample(2, stacks.child(0, inlined), 2, 2);
  }
  stacks.sample(0, {"_start|python3"});
  stacks.flush(worker);
}

}  // namespace

void mend_trace(Bytes& file, std::uint8_t what) {
  if ((what & kHeader) != 0) mend_header(file);
  if ((what & kChecks) != 0) mend_frames(file, (what & kSizes) != 0);
}

Bytes small_trace(Codec codec) {
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
  FrameHeader samples = frame_header(FrameType::samples, number);
  samples.base_ticks = at(3);
  samples.events = 1;
  analyzer::Bytes body(64);
  body.resize(static_cast<std::size_t>(encode<Kind::stack_sample>(body.data(), 0, 101u, 1u, 1u, 0u, 1u) -
                                       body.data()));
  made.frame(samples, body);
  made.close();
  return made.bytes;
}

Bytes pipeline_trace() {
  MadeTrace made;
  made.loader(1, kWorkers);
  made.iterator(1, 1);
  made.define<Kind::epoch>(1, at(0), 1, 0, 0);
  made.define<Kind::rank>(1, at(0), 0, 2, std::int64_t{0});
  std::vector<ThreadWriter> workers;
  workers.reserve(kWorkers);
  for (std::uint64_t worker = 0; worker < kWorkers; ++worker) {
    const std::uint32_t number = made.worker(1, worker);
    made.op(number, 1, OpRole::loader, "Loader");
    made.op(number, 2, OpRole::transform, "Crop");
    made.op(number, 3, OpRole::collate, "Collation");
    made.define<Kind::hook>(number, at(1), 1, "jpeg_read_header", "libjpeg.so.62");
    made.define<Kind::hook>(number, at(1), 2, "aten::div", "libtorch_cpu.so.1.13");
    sample_stacks(made, number);
    workers.emplace_back(made, number, 1, 512);
  }
  ThreadWriter main(made, 1, 1, 512);
  main.record<Kind::start_workers>(at(0), 1);
  main.record<Kind::leave>(at(2));
  for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
    const double t = 10 + kStep * static_cast<double>(batch);
    fetch(workers[batch % kWorkers], t, batch);
    if (batch == kBatches / 2) workers.back().drop();
    take(main, t + 15, batch);
  }
  for (ThreadWriter& worker : workers) worker.flush();
  main.flush();
  made.close();
  return made.bytes;
}

}  // namespace lotus::fuzz
