#include "process_stacks.hpp"

#include <algorithm>
#include <lotus/field.hpp>

namespace lotus::collector {
namespace {

constexpr std::size_t kMaxUndefinedPages = 16;  // with more, nothing waits until the modules change
constexpr std::size_t kMaxCodes = std::size_t{1} << 20;
constexpr unsigned kPageBits = 12;

}  // namespace

void ProcessStacks::define(Bytes records, std::uint64_t base_ticks) {
  const std::uint8_t* at = records.data();
  const std::uint8_t* const end = at + records.size();
  Record record;
  std::uint64_t ticks = base_ticks;
  while ((at = decode(at, end, record)) != nullptr) {
    ticks += record.dt;
    if (Modules::is_about_modules(record.kind)) {
      modules_.define(record, ticks, pid_);
    } else if (record.kind == Kind::code && codes_.size() < kMaxCodes) {
      const std::uint64_t id = field<Kind::code, "id">(record);
      codes_[id] = {std::string(field<Kind::code, "name">(record)),
                    std::string(field<Kind::code, "file">(record)), field<Kind::code, "line">(record),
                    NameSource::python};
      if (CodeLocation* earlier = code_locations_.find(id + 1)) earlier->location = 0;
    }
  }
}

ProcessStacks::Taken ProcessStacks::take(const RingRecord& record, Bytes payload, bool may_wait) {
  auto snapshot = parse_snapshot(payload);
  if (!snapshot) return Taken::damaged;
  if (modules_.lacks_ancestor()) {
    if (may_wait) return Taken::waits;
    modules_.give_up_ancestor();
  }
  modules_.look_at(record.base_ticks);
  const Unwound& unwound = stacks_.unwinder.unwind(*snapshot, modules_);
  if (unwound.unknown != 0 && worth_waiting(unwound.unknown)) {
    if (may_wait) return Taken::waits;
    undefined_pages_.insert(unwound.unknown >> kPageBits);
  }
  weave(*snapshot, unwound);
  const SnapshotHeader& header = snapshot->header;
  bool cut = unwound.cut && !(unwound.behind_snapshot && (header.flags & kCutStack) != 0);
  const StackId stack = stacks_.store.stack(locations_, cut);
  constexpr std::uint32_t kTold = kOnBehalf | kCutStack | kMakesBatch | kTellsCollecting | kCollecting;
  const std::uint32_t flags = (header.flags & kTold) | (cut ? kCutUnwind : 0);
  samples_.push_back({record.base_ticks, header.tid, header.op, stack, flags, std::max(1u, header.weight),
                      header.hook, header.waited, std::move(snapshot->counts)});
  return Taken::yes;
}

// Code that is generated at run time is in no module: only the first snapshot of a page waits for one.
bool ProcessStacks::worth_waiting(std::uint64_t address) {
  if (undefined_generation_ != modules_.generation()) undefined_pages_.clear();
  undefined_generation_ = modules_.generation();
  return undefined_pages_.size() < kMaxUndefinedPages && !undefined_pages_.contains(address >> kPageBits);
}

void ProcessStacks::weave(const Snapshot& snapshot, const Unwound& unwound) {
  locations_.clear();
  auto call = snapshot.python.begin();
  // Functions whose native frames end with the one before `cfa`, or those in an evaluator that ends there.
  const auto add_below = [&](std::uint64_t cfa, std::uint32_t flags) {
    for (; call != snapshot.python.end() && call->address < cfa && call->flags == flags; ++call)
      locations_.push_back(python(call->code));
  };
  for (const NativeFrame& frame : unwound.frames) {
    if (frame.cfa <= snapshot.header.caller && &frame != &unwound.frames.back()) continue;
    if (!locations_.empty()) add_below(frame.cfa, 0);
    locations_.push_back(frame.location != 0 ? frame.location : native(frame.address));
    add_below(frame.cfa, kInEvaluator);
  }
  for (; call != snapshot.python.end(); ++call) locations_.push_back(python(call->code));
}

LocationId ProcessStacks::native(std::uint64_t address) {
  if (!stacks_.binaries.contains(address)) return stacks_.store.nowhere();
  const LocationId location = stacks_.store.native(address);
  stacks_.unwinder.keep_location(address, location);
  return location;
}

LocationId ProcessStacks::python(std::uint32_t code) {
  const std::uint64_t key = std::uint64_t{code} + 1;
  CodeLocation* place = code_locations_.find(key);
  if (place != nullptr && place->location != 0) return place->location;
  if (place == nullptr) place = &code_locations_.add({key, 0});
  const auto known = codes_.find(code);
  static const FunctionName kUnknown{"[unknown Python function]", "", 0, NameSource::python};
  return place->location = stacks_.store.python(known != codes_.end() ? known->second : kUnknown);
}

void ProcessStacks::write(TraceFile& file, Packer& packer, std::uint32_t process, std::uint64_t position) {
  if (samples_.empty()) return;
  std::stable_sort(samples_.begin(), samples_.end(),
                   [](const Sample& a, const Sample& b) { return a.ticks < b.ticks; });
  FrameHeader header = frame_header(FrameType::samples, process);
  header.base_ticks = samples_.front().ticks;
  header.events = static_cast<std::uint32_t>(samples_.size());
  header.sequence = position;
  stacks_.store.write(file, packer, header.base_ticks);
  const std::size_t most_bytes = std::max(encoded_bound<Kind::stack_sample>(0u, 0u, 0u, 0u, 0u),
                                          encoded_bound<Kind::off_cpu>(0u, 0u, 0u, 0u, std::uint64_t{0}, 0u));
  std::size_t counts = 0;
  for (const Sample& sample : samples_) counts += sample.counts.size();
  const std::uint64_t any = 0;
  const std::size_t count_bytes = encoded_bound<Kind::sample_count>(any, any, any, any);
  std::vector<std::uint8_t> body(samples_.size() * most_bytes + counts * count_bytes);
  std::uint8_t* end = body.data();
  std::uint64_t last = header.base_ticks;
  for (const Sample& sample : samples_) {
    const std::uint64_t dt = sample.ticks - last;
    end = sample.hook != 0 ? encode<Kind::off_cpu>(end, dt, sample.tid, sample.op, sample.stack, sample.flags,
                                                   sample.waited, sample.hook)
                           : encode<Kind::stack_sample>(end, dt, sample.tid, sample.op, sample.stack,
                                                        sample.flags, sample.weight);
    for (const SnapshotCount& count : sample.counts)
      end = encode<Kind::sample_count>(end, std::uint64_t{0}, count.counter, count.value, count.enabled,
                                       count.running);
    last = sample.ticks;
  }
  body.resize(static_cast<std::size_t>(end - body.data()));
  file.add_packed(header, body, packer);
}

void ProcessStacks::commit() {
  if (!samples_.empty()) stacks_.store.commit();
  samples_.clear();
  if (caught_up_) modules_.forget_gone();
  caught_up_ = false;
}

void ProcessStacks::rollback() {
  samples_.clear();
  caught_up_ = false;
}

}  // namespace lotus::collector
