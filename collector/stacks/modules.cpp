#include "modules.hpp"

#include <algorithm>
#include <lotus/field.hpp>
#include <string>

namespace lotus::collector {
namespace {

constexpr std::size_t kMaxModules = 16384;
constexpr std::uint64_t kStill = UINT64_MAX;

}  // namespace

void Modules::define(const Record& record, std::uint64_t ticks, std::uint32_t pid) {
  if (record.kind == Kind::module) add(record, ticks, pid);
  if (record.kind == Kind::module_gone)
    for (Module& module : modules_)
      if (module.id == field<Kind::module_gone, "id">(record) && module.gone == kStill) module.gone = ticks;
  view_until_ = 0;
  view_from_ = 1;
  ++generation_;
}

void Modules::add(const Record& record, std::uint64_t ticks, std::uint32_t pid) {
  const std::uint64_t id = field<Kind::module, "id">(record);
  const std::uint64_t start = field<Kind::module, "start">(record);
  const std::uint64_t end = field<Kind::module, "end">(record);
  const std::uint64_t bias = field<Kind::module, "bias">(record);
  const bool sound = start < end && end < kCommonSpace && bias <= start && end - bias <= offset_of(~0ull);
  const bool known =
      std::any_of(modules_.begin(), modules_.end(), [&](const Module& module) { return module.id == id; });
  if (!sound || known || modules_.size() >= kMaxModules || binaries_->count() >= kMaxBinaries) return;
  const BinaryId binary = binaries_->add(std::string(field<Kind::module, "path">(record)),
                                         std::string(field<Kind::module, "build_id">(record)), pid);
  modules_.push_back({id, start, end, ticks, kStill, common_address(binary, 0) - bias, false});
}

void Modules::forget_gone() {
  const auto erased = std::erase_if(modules_, [](const Module& module) { return module.old; });
  for (Module& module : modules_) module.old = module.gone != kStill;
  if (erased > 0) view_until_ = 0, view_from_ = 1;
}

void Modules::look_at(std::uint64_t ticks) {
  if (ticks < view_from_ || ticks >= view_until_) build_view(ticks);
}

void Modules::build_view(std::uint64_t ticks) {
  view_from_ = 0;
  view_until_ = kStill;
  std::vector<const Module*> candidates;
  for (const Module& module : modules_) {
    for (const std::uint64_t change : {module.from, module.gone}) {
      if (change <= ticks) view_from_ = std::max(view_from_, change);
      if (change > ticks) view_until_ = std::min(view_until_, change);
    }
    if (module.gone > ticks) candidates.push_back(&module);
  }
  // By precedence: modules that were defined at that time, newest first; then those that were defined later.
  std::stable_sort(candidates.begin(), candidates.end(), [&](const Module* a, const Module* b) {
    const bool a_there = a->from <= ticks;
    const bool b_there = b->from <= ticks;
    if (a_there != b_there) return a_there;
    return a_there ? a->from > b->from : a->from < b->from;
  });
  view_.clear();
  for (const Module* module : candidates) {
    const auto next = std::lower_bound(view_.begin(), view_.end(), module->start,
                                       [](const Range& range, std::uint64_t at) { return range.end <= at; });
    if (next != view_.end() && next->start < module->end) continue;
    view_.insert(next, {module->start, module->end, module->to_common});
  }
  last_ = 0;
  lowest_ = view_.empty() ? 0 : view_.front().start;
  highest_ = view_.empty() ? 0 : view_.back().end;
}

std::optional<std::uint64_t> Modules::find(std::uint64_t address) const {
  const auto within = [&](const Range& range) { return address >= range.start && address < range.end; };
  if (!within(view_[last_])) {
    const auto range = std::upper_bound(view_.begin(), view_.end(), address,
                                        [](std::uint64_t at, const Range& r) { return at < r.end; });
    if (range == view_.end() || !within(*range)) return std::nullopt;
    last_ = static_cast<std::size_t>(range - view_.begin());
  }
  return address + view_[last_].to_common;
}

}  // namespace lotus::collector
