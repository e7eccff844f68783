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

// False: there is no such counter, or there are too many.
bool want(std::string_view name) {
  CounterRow row = counter_named(name);
  if (row.name.empty()) return false;
  if (is_wanted(row)) return true;
  if (wanted_counters.count == kMaxCounters) return false;
  if (row.source == CounterSource::raw) {  // the program may write over its environment
    char* copy = raw_names[wanted_counters.count];
    std::memcpy(copy, row.name.data(), row.name.size());
    row.name = {copy, row.name.size()};
  }
  wanted_counters.of[wanted_counters.count++] = {row, false, 0};
  return true;
}

bool want_all(std::string_view names) {
  for (;;) {
    const std::string_view name = names.substr(0, names.find(','));
    if (!want(name)) return false;
    if (name.size() == names.size()) return true;
    names.remove_prefix(name.size() + 1);
  }
}

bool is_permission(int error) { return error == EACCES || error == EPERM; }

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

const char* want_counters(const char* value) {
  wanted_counters.tried = counters_on = false;
  wanted_counters.count = 0;
  std::string_view names = value;
  for (const CounterSet& set : kCounterSets)
    if (set.name == names) names = set.counters;
  counters_on = want_all(names);
  if (counters_on) return nullptr;
  wanted_counters.count = 0;
  return "default, memory, branch, tlb or up to 16 of perf's names with commas between";
}

const char* counters_remark() {
  static constinit char text[1024] = {};
  text[0] = '\0';
  tell_refused(text, sizeof text, false, "this machine does not offer them, as most virtual machines do not");
  tell_refused(text, sizeof text, true,
               "the kernel does not permit it: sysctl kernel.perf_event_paranoid=1 as root, and in a "
               "container --cap-add=PERFMON");
  return text[0] != '\0' ? text : nullptr;
}

}  // namespace lotus
