#include "report/native.hpp"

#include <algorithm>

#include "model/file_hooks.hpp"
#include "stats/interval.hpp"

namespace lotus::analyzer {

void NativeCollector::begin(const Trace& trace) {
  trace_ = &trace;
  profile_ = std::make_unique<Profile>(trace);
}

// An operator of PyTorch costs what PyTorch's own observers take, see bench/native.
const NativeCollector::HookFacts& NativeCollector::facts_of(const Hook& hook) {
  constexpr double kOperatorPairs = 8;
  const auto [slot, fresh] = hooks_.try_emplace(&hook);
  if (fresh)
    slot->second = {is_file_hook(hook.name), hook.library.starts_with("libtorch") ? kOperatorPairs : 1};
  return slot->second;
}

// Fields: hook, calls, ticks, bytes. A mapping moves nothing yet: its pages are read when they are touched.
void NativeCollector::on_native(const Stream& stream, const Record& record) {
  const auto hook = stream.process->hooks.find(record.u[0]);
  if (hook == stream.process->hooks.end()) return;
  const HookFacts& facts = facts_of(hook->second);
  cost_ += static_cast<double>(record.u[1]) * facts.pairs *
           static_cast<double>(stream.process->pair_cost_ps) / 1000;
  const Op* op = stream.stack.back().kind == Kind::op ? stream.stack.back().op : nullptr;
  if (op == nullptr || !facts.reads_files) return;
  FileIo& io = io_[op];
  io.calls += record.u[1];
  io.ns += static_cast<double>(trace_->clock.duration_ns(record.u[2]));
  if (!hook->second.name.starts_with("mmap")) io.bytes += static_cast<double>(record.u[3]);
}

void NativeCollector::end() {
  for (const auto& [op, io] : io_) {
    FileIo& sum = ops_[{op->role, op->name, op->qualified}].io;
    sum.calls += io.calls;
    sum.ns += io.ns;
    sum.bytes += io.bytes;
  }
  StackNames names(trace_->stacks, frames_);
  for (const auto& [key, profile] : profile_->ops()) {
    Sums& sums = ops_[key];
    for (const auto& [stack, tally] : profile.stacks) {
      const auto frames = names.frames_of(stack);
      const Owner owner = owner_of(frames, frames_);
      if (owner.part == Part::tracer) continue;
      sums.samples.add(tally);
      if (owner.frame != nullptr) sums.functions[*owner.frame].add(tally);
    }
  }
  profile_.reset();
  io_.clear();
  hooks_.clear();
  cost_ = 0;
}

NativeFinding NativeCollector::finding_of(const Op& op) const {
  NativeFinding finding;
  const auto found = ops_.find({op.role, op.name, op.qualified});
  if (found == ops_.end()) return finding;
  const Sums& sums = found->second;
  finding.io = sums.io;
  finding.samples = sums.samples.samples;
  const auto top =
      std::max_element(sums.functions.begin(), sums.functions.end(),
                       [](const auto& a, const auto& b) { return a.second.cpu_ns < b.second.cpu_ns; });
  if (top == sums.functions.end() || sums.samples.cpu_ns <= 0) return finding;
  finding.function = frames_[top->first].name;
  finding.library = frames_[top->first].library;
  finding.share = top->second.cpu_ns / sums.samples.cpu_ns;
  finding.interval = exact_interval(finding.share, sums.samples.effective());
  return finding;
}

}  // namespace lotus::analyzer
