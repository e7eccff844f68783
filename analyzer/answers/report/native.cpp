#include "answers/report/native.hpp"

#include <algorithm>

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
  for (const auto& [key, profile] : profile_->ops()) ops_[key].add(profile, names, frames_);
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
  finding.samples = sums.cpu.samples;
  const auto top =
      std::max_element(sums.functions.begin(), sums.functions.end(),
                       [](const auto& a, const auto& b) { return a.second.cpu_ns < b.second.cpu_ns; });
  if (top == sums.functions.end() || sums.cpu.cpu_ns <= 0) return finding;
  finding.function = frames_[top->first].name;
  finding.library = frames_[top->first].library;
  finding.python = frames_[top->first].part == Part::python;
  finding.share = top->second.cpu_ns / sums.cpu.cpu_ns;
  finding.interval = exact_interval(finding.share, sums.cpu.effective());
  return finding;
}

}  // namespace lotus::analyzer
