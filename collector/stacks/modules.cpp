#include "modules.hpp"

#include <algorithm>
#include <lotus/field.hpp>
#include <string>

namespace lotus::collector {
namespace {

constexpr std::size_t kMaxModules = 16384;
constexpr std::uint64_t kStill = kStillLoaded;
constexpr std::size_t kMaxGone = kMaxModules;

}  // namespace

void Modules::define(const Record& record, std::uint64_t ticks, std::uint32_t pid) {
  if (record.kind == Kind::module) add(record, ticks, pid);
  if (record.kind == Kind::module_gone) {
    begin_history();
    set_gone(field<Kind::module_gone, "id">(record), ticks);
  }
  if (record.kind == Kind::modules_of && histories_ != nullptr && !refers_) {
    refers_ = true;
    reference_ = {{field<Kind::modules_of, "pid">(record), field<Kind::modules_of, "created">(record)},
                  field<Kind::modules_of, "at">(record),
                  field<Kind::modules_of, "count">(record),
                  ticks,
                  pid};
    inherit(false);
  }
  changed();
}

void Modules::changed() {
  view_until_ = 0;
  view_from_ = 1;
  ++generation_;
}

void Modules::keep(const Module& module) {
  modules_.push_back(module);
  if (in_histories_) histories_->add(own_, module);
}

// What was inherited so far is part of it: a child of this process refers to all that this one has.
void Modules::begin_history() {
  if (in_histories_ || histories_ == nullptr) return;
  in_histories_ = true;
  for (const Module& module : modules_) histories_->add(own_, module);
}

void Modules::set_gone(std::uint64_t id, std::uint64_t ticks) {
  for (Module& module : modules_)
    if (module.id == id && module.gone == kStill) module.gone = ticks;
  if (in_histories_) histories_->gone(own_, id, ticks);
  if (reference_ && gone_meanwhile_.size() < kMaxGone) gone_meanwhile_.push_back({id, ticks});
}

bool Modules::lacks_ancestor() {
  inherit(false);
  return reference_.has_value();
}

// Resolves the reference, if all that it refers to is known, or else if it is to be left `incomplete`.
void Modules::inherit(bool incomplete) {
  if (!reference_) return;
  const std::vector<Module> found = histories_->at(reference_->ancestor, reference_->at);
  if (found.size() < reference_->count && !incomplete) return;
  const auto own = static_cast<std::ptrdiff_t>(modules_.size());
  for (Module module : found) {
    const bool known = std::any_of(modules_.begin(), modules_.begin() + own,
                                   [&](const Module& other) { return other.id == module.id; });
    if (known || modules_.size() >= kMaxModules) continue;
    binaries_->add_process(binary_of(module.start + module.to_common), reference_->pid);
    module.from = reference_->ticks;
    module.gone = kStill;
    module.old = false;
    keep(module);
  }
  reference_.reset();
  for (const Gone& gone : gone_meanwhile_) set_gone(gone.id, gone.ticks);
  gone_meanwhile_.clear();
  changed();
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
  begin_history();
  keep({id, start, end, ticks, kStill, common_address(binary, 0) - bias, false});
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
