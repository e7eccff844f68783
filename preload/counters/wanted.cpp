#include "counters/wanted.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace lotus {

constinit WantedCounters wanted_counters{};
constinit bool counters_on = false;

namespace {

constexpr std::size_t kRawName = 18;
constinit char raw_names[kMaxCounters][kRawName] = {};

bool is_wanted(const CounterRow& row) {
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if (wanted_counters.of[i].row.source == row.source && wanted_counters.of[i].row.code == row.code)
      return true;
  return false;
}

bool want_row(CounterRow row) {
  if (is_wanted(row)) return true;
  if (row.source == CounterSource::led && !want_row(kSlots)) return false;
  if (wanted_counters.count == kMaxCounters) return false;
  if (row.name[0] == 'r' && counter_named(row.name).source == CounterSource::raw) {
    // The program may write over its environment.
    char* copy = raw_names[wanted_counters.count];
    std::memcpy(copy, row.name.data(), row.name.size());
    row.name = {copy, row.name.size()};
  }
  wanted_counters.of[wanted_counters.count++] = {row, false, 0};
  return true;
}

bool want_all(std::string_view names, const TopdownModel* topdown);

// The processor's own events, in their order: what leads a group comes first.
bool want_topdown(const TopdownModel* topdown) {
  wanted_counters.topdown_unknown = topdown == nullptr;
  if (topdown == nullptr) return true;
  for (const CounterRow& row : topdown->events)
    if (!want_row(row)) return false;
  return true;
}

bool want_set(const CounterSet& set, const TopdownModel* topdown) {
  return (set.name != "topdown" || want_topdown(topdown)) && want_all(set.counters, topdown);
}

// False: there is no such counter, or there are too many.
bool want(std::string_view name, const TopdownModel* topdown) {
  for (const CounterSet& set : kCounterSets)
    if (set.name == name) return want_set(set, topdown);
  if (topdown != nullptr)
    for (const CounterRow& row : topdown->events)
      if (row.name == name) return want_row(row);
  const CounterRow row = counter_named(name);
  return !row.name.empty() && want_row(row);
}

bool want_all(std::string_view names, const TopdownModel* topdown) {
  for (;;) {
    const std::string_view name = names.substr(0, names.find(','));
    if (!want(name, topdown)) return false;
    if (name.size() == names.size()) return true;
    names.remove_prefix(name.size() + 1);
  }
}

// Appends those that were refused for one of two reasons; names that do not fit are left out, not the reason.
void tell_refused(char* text, std::size_t size, bool for_permission, const char* reason) {
  const std::size_t last = std::strlen(text) + size / 4;
  std::size_t used = std::strlen(text);
  bool any = false;
  for (std::size_t i = 0; i < wanted_counters.count; ++i) {
    const WantedCounter& counter = wanted_counters.of[i];
    if (counter.error == 0 || is_permission(counter.error) != for_permission) continue;
    const std::string_view name = counter.row.name;
    if (any && used + name.size() + 2 > last) continue;
    const char* before = any ? ", " : used != 0 ? "; not counted: " : "not counted: ";
    used += static_cast<std::size_t>(std::snprintf(text + used, size - used, "%s%.*s", before,
                                                   static_cast<int>(name.size()), name.data()));
    any = true;
  }
  if (any) std::snprintf(text + used, size - used, " (%s)", reason);
}

}  // namespace

bool is_permission(int error) { return error == EACCES || error == EPERM; }

const char* want_counters(const char* value, const ProcessorId& processor) {
  wanted_counters = {};
  counters_on = false;
  if (std::strcmp(value, "list") == 0) {
    wanted_counters.listed = true;
    return nullptr;
  }
  counters_on = want_all(value, topdown_of(processor));
  if (counters_on) return nullptr;
  wanted_counters = {};
  return "default, memory, branch, tlb, topdown, up to 16 counters by perf's names with commas between, or "
         "list";
}

const char* counters_remark() {
  static constinit char text[1280] = {};
  text[0] = '\0';
  tell_refused(text, sizeof text, false, kNotOffered);
  tell_refused(text, sizeof text, true, kNotPermitted);
  if (wanted_counters.topdown_unknown) {
    const ProcessorId processor = this_processor();
    const std::size_t used = std::strlen(text);
    std::snprintf(text + used, sizeof text - used,
                  "%sno top-down analysis is known for this processor (%s family %llu model 0x%llx)",
                  used != 0 ? "; " : "", processor.vendor.empty() ? "unknown" : processor.vendor.data(),
                  static_cast<unsigned long long>(processor.family),
                  static_cast<unsigned long long>(processor.model));
  }
  return text[0] != '\0' ? text : nullptr;
}

}  // namespace lotus
