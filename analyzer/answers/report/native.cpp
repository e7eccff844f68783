#include "answers/report/native.hpp"

#include <algorithm>

#include "answers/report/system_calls.hpp"
#include "answers/stacks/library_code.hpp"
#include "answers/stats/interval.hpp"
#include "reading/model/file_hooks.hpp"
#include "reading/model/operator_hooks.hpp"

namespace lotus::analyzer {

void NativeCollector::begin(const Trace& trace) {
  trace_ = &trace;
  profile_ = std::make_unique<Profile>(trace);
}

// The cost of counting an operator of PyTorch is that of PyTorch's own observers, see bench/native.
const NativeCollector::HookFacts& NativeCollector::facts_of(const Hook& hook) {
  constexpr double kOperatorPairs = 8;
  const auto [slot, fresh] = hooks_.try_emplace(&hook);
  if (fresh)
    slot->second = {is_file_hook(hook.name), maps_file(hook.name),
                    is_operator_hook(hook.library) ? kOperatorPairs : 1};
  return slot->second;
}

void NativeCollector::on_native(const Stream& stream, const Record& record) {
  const auto hook = stream.process->hooks.find(field<Kind::native, "hook">(record));
  if (hook == stream.process->hooks.end()) return;
  const HookFacts& facts = facts_of(hook->second);
  const std::uint64_t calls = field<Kind::native, "calls">(record);
  cost_ +=
      static_cast<double>(calls) * facts.pairs * static_cast<double>(stream.process->pair_cost_ps) / 1000;
  if (facts.reads_files && !facts.maps_files)
    read_ += static_cast<double>(field<Kind::native, "bytes">(record));
  const Op* op = stream.stack.back().kind == Kind::op ? stream.stack.back().op : nullptr;
  if (op == nullptr || !facts.reads_files) return;
  FileIo& io = io_[op];
  io.calls += calls;
  io.ns += static_cast<double>(trace_->clock.duration_ns(field<Kind::native, "ticks">(record)));
  (facts.maps_files ? io.mapped : io.read) += static_cast<double>(field<Kind::native, "bytes">(record));
}

void NativeCollector::end() {
  for (const auto& [op, io] : io_) ops_[{op->role, op->name, op->qualified}].io.add(io);
  StackNames names(trace_->stacks, frames_);
  for (const auto& [key, profile] : profile_->ops()) {
    ops_[key].add(profile, names, frames_);
    if (key.outside()) add_own_code(profile, names);
    add_parsing(key, profile, names);
    collecting_.telling.add(profile.telling);
    collecting_.in_it.add(profile.collecting);
    add_waits(key, profile, names);
  }
  profile_.reset();
  io_.clear();
  hooks_.clear();
  cost_ = 0;
}

namespace {

bool is_fetch(const NamedFrame& frame) {
  return frame.part == Part::python && (frame.name.starts_with("_MapDatasetFetcher.fetch") ||
                                        frame.name.starts_with("_IterableDatasetFetcher.fetch"));
}

// Before 3.11 a code object does not say which function a comprehension is in: that one is its caller.
bool is_named_python(const NamedFrame& frame) {
  return frame.part == Part::python && !frame.name.starts_with('<');
}

}  // namespace

// The function of the program's own that is waited in; of a stack without one the innermost Python function.
std::optional<FrameId> NativeCollector::place_of(const std::vector<FrameId>& stack) const {
  const auto is_python = [&](FrameId frame) { return frames_[frame].part == Part::python; };
  const auto fetch =
      std::find_if(stack.begin(), stack.end(), [&](FrameId f) { return is_fetch(frames_[f]); });
  const auto own = std::find_if(stack.begin(), fetch, [&](FrameId frame) {
    return is_python(frame) && !is_library_code(frames_[frame].file);
  });
  if (own != fetch) return *own;
  const auto python = std::find_if(stack.begin(), fetch, is_python);
  if (python != fetch) return *python;
  return stack.empty() ? std::nullopt : std::optional(stack.front());
}

void NativeCollector::add_waits(const OpKey& key, const OpProfile& profile, StackNames& names) {
  for (const auto& [where, tally] : profile.waits) {
    const auto stack = names.frames_of(where.first);
    WaitPlace place{key, place_of(stack), std::nullopt, where.second};
    const auto python = std::find_if(stack.begin(), stack.end(),
                                     [&](FrameId frame) { return frames_[frame].part == Part::python; });
    if (python != stack.end()) place.innermost = *python;
    waits_[place].add(tally);
  }
}

std::vector<WaitFinding> NativeCollector::waits() const {
  std::vector<WaitFinding> found;
  for (const auto& [place, tally] : waits_) {
    WaitFinding wait{
        .op = place.op, .function = {}, .file = {}, .through = {}, .call = place.call, .tally = tally};
    if (place.function) {
      const NamedFrame& frame = frames_[*place.function];
      wait.function = frame.name;
      wait.file = frame.file;
      wait.line = frame.line;
    }
    if (place.innermost && place.innermost != place.function) wait.through = frames_[*place.innermost].name;
    found.push_back(std::move(wait));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const WaitFinding& a, const WaitFinding& b) { return a.tally.ns > b.tally.ns; });
  return found;
}

// What of a stack's samples belongs to fetches: a stack may be cut off below the fetch.
Tally NativeCollector::of_fetches(const StackTally& tally, const std::vector<FrameId>& path) const {
  const bool from_fetch =
      std::any_of(path.begin(), path.end(), [&](FrameId frame) { return is_fetch(frames_[frame]); });
  return from_fetch ? tally.all() : tally.making;
}

void NativeCollector::add_parsing(const OpKey& key, const OpProfile& profile, StackNames& names) {
  for (const auto& [stack, tally] : profile.stacks) {
    const auto path = names.frames_of(stack);
    if (owner_of(path, frames_).part == Part::tracer) continue;
    const Tally all = key.outside() ? of_fetches(tally, path) : tally.all();
    parsing_.all.add(all);
    std::array<bool, kFileFormats> found{};  // an archive of NumPy files is of both formats
    for (const FrameId frame : path)
      if (const auto format = format_read_by(frames_[frame])) found[*format] = true;
    for (std::size_t format = 0; format < kFileFormats; ++format)
      if (found[format]) parsing_.ns[format] += all.cpu_ns;
  }
}

static constexpr std::uint64_t kFewestSamples = 20;

std::optional<double> NativeCollector::share_of_format(std::size_t format) const {
  // None at all: another library may parse these, or a function without a name.
  if (parsing_.all.samples < kFewestSamples || parsing_.ns[format] <= 0) return std::nullopt;
  return parsing_.ns[format] / parsing_.all.cpu_ns;
}

std::optional<double> NativeCollector::share_collecting() const {
  if (collecting_.telling.samples < kFewestSamples || collecting_.telling.cpu_ns <= 0) return std::nullopt;
  return collecting_.in_it.cpu_ns / collecting_.telling.cpu_ns;
}

// The innermost Python function of fetches' stacks, and the native function that it calls.
void NativeCollector::add_own_code(const OpProfile& outside, StackNames& names) {
  for (const auto& [stack, tally] : outside.stacks) {
    const auto path = names.frames_of(stack);
    if (owner_of(path, frames_).part == Part::tracer) continue;
    const auto python = std::find_if(path.begin(), path.end(),
                                     [&](FrameId frame) { return is_named_python(frames_[frame]); });
    if (python == path.end() || is_fetch(frames_[*python])) continue;
    const Tally all = of_fetches(tally, path);
    if (all.samples == 0) continue;
    OwnSums& sums = own_code_[*python];
    sums.ns += all.cpu_ns;
    sums.samples += all.samples;
    if (frames_[path.front()].part == Part::native) sums.inside[path.front()] += all.cpu_ns;
  }
}

std::vector<OwnFunction> NativeCollector::own_functions() const {
  constexpr std::size_t kMostOwnFunctions = 3;
  constexpr double kMostInside = 0.5;  // from this share on, a native function is named
  double all = 0;
  for (const auto& [frame, sums] : own_code_) all += sums.ns;
  std::vector<OwnFunction> functions;
  for (const auto& [frame, sums] : own_code_) {
    OwnFunction function{frames_[frame].name, {}, all > 0 ? sums.ns / all : 0, sums.samples};
    for (const auto& [inside, ns] : sums.inside) {
      if (ns < kMostInside * sums.ns) continue;
      const NamedFrame& native = frames_[inside];
      const bool of_libc = native.library.starts_with("libc.") || native.library.starts_with("libc-") ||
                           native.library.starts_with("libpthread");
      function.inside = of_libc ? in_words(native.name) : native.name;
    }
    functions.push_back(std::move(function));
  }
  std::stable_sort(functions.begin(), functions.end(),
                   [](const OwnFunction& a, const OwnFunction& b) { return a.share > b.share; });
  if (functions.size() > kMostOwnFunctions) functions.resize(kMostOwnFunctions);
  return functions;
}

NativeFinding NativeCollector::finding_of(const Op& op) const {
  NativeFinding finding;
  const auto found = ops_.find({op.role, op.name, op.qualified});
  if (found == ops_.end()) return finding;
  const Sums& sums = found->second;
  finding.io = sums.io;
  finding.samples = sums.cpu.samples;
  const auto top =
      std::max_element(sums.functions.begin(), sums.functions.end(),
                       [](const auto& a, const auto& b) { return a.second.cpu_ns < b.second.cpu_ns; });
  if (top == sums.functions.end() || sums.cpu.cpu_ns <= 0) return finding;
  finding.function = frames_[top->first].name;
  finding.library = frames_[top->first].library;
  const auto callers = sums.callers.find(top->first);
  if (callers != sums.callers.end()) finding.under = most_of(callers->second, frames_);
  finding.by_code = frames_[top->first].by_code();
  finding.python = frames_[top->first].part == Part::python;
  finding.share = top->second.cpu_ns / sums.cpu.cpu_ns;
  finding.interval = exact_interval(finding.share, sums.cpu.effective());
  return finding;
}

}  // namespace lotus::analyzer
