#include "counters/wanted.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lotus {

constinit WantedCounters wanted_counters{};
constinit bool counters_on = false;

namespace {

constexpr std::size_t kNameBytes = 96;
constinit char kept_names[kMaxCounters][kNameBytes] = {};
constinit char unknown_reason[192] = {};  // of the last name without numbers

bool is_wanted(const CounterRow& row) {
  for (std::size_t i = 0; i < wanted_counters.count; ++i) {
    const WantedCounter& other = wanted_counters.of[i];
    if (!other.to_look_up && other.row.source == row.source && other.row.code == row.code) return true;
  }
  return false;
}

// The program may write over its environment.
std::string_view kept(std::string_view name) {
  char* copy = kept_names[wanted_counters.count];
  std::memcpy(copy, name.data(), name.size());
  return {copy, name.size()};
}

bool want_row(CounterRow row) {
  if (is_wanted(row)) return true;
  if (row.source == CounterSource::led && !want_row(kSlots)) return false;
  if (wanted_counters.count == kMaxCounters) return false;
  if (row.name[0] == 'r' && counter_named(row.name).source == CounterSource::raw) row.name = kept(row.name);
  wanted_counters.of[wanted_counters.count++] = {row, false, 0};
  return true;
}

// A processor's name of an event has a capital, an underscore or the colon before what of it is counted. So a
// slip in one of Lotus' own names is none.
bool may_be_of_processor(std::string_view name) {
  bool its = false;
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    const bool other = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '=' || c == '-';
    if (!capital && !other && c != '_' && c != ':') return false;
    its = its || capital || c == '_' || c == ':';
  }
  return its && name.size() < kNameBytes;
}

bool want_looked_up(std::string_view name) {
  if (!may_be_of_processor(name)) return false;
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if (wanted_counters.of[i].to_look_up && wanted_counters.of[i].row.name == name) return true;
  if (wanted_counters.count == kMaxCounters) return false;
  name = kept(name);
  wanted_counters.of[wanted_counters.count++] = {{name, CounterSource::raw, 0}, false, kUnknownName, true};
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
  return row.name.empty() ? want_looked_up(name) : want_row(row);
}

bool want_all(std::string_view names, const TopdownModel* topdown) {
  for (;;) {
    const std::string_view name = names.substr(0, names.find(','));
    if (!want(name, topdown)) return false;
    if (name.size() == names.size()) return true;
    names.remove_prefix(name.size() + 1);
  }
}

// A line of `lotus-collector --encode`. False: the name has no numbers, and why is kept.
bool read_numbers(const char* line, WantedCounter& counter) {
  constexpr CounterSource kSources[] = {CounterSource::hardware, CounterSource::software, CounterSource::raw,
                                        CounterSource::cache, CounterSource::raw};
  counter.error = *line == '-' ? kNobodyToAsk : kUnknownName;
  if (*line == '?' || *line == '-') {
    const char* reason = std::strstr(line, ": ");
    if (reason != nullptr)
      std::snprintf(unknown_reason, sizeof unknown_reason, "%.*s",
                    static_cast<int>(std::strcspn(reason + 2, "\n")), reason + 2);
    return false;
  }
  char* after = nullptr;
  const unsigned long type = std::strtoul(line, &after, 10);
  if (after == line || *after != ' ' || type >= std::size(kSources) || type == 2) return false;
  counter.row.source = kSources[type];
  counter.row.code = std::strtoull(after, &after, 16);
  counter.row.code1 = std::strtoull(after, &after, 16);
  counter.error = 0;
  return true;
}

enum class Reason { not_offered, not_permitted, unknown_name };

Reason reason_of(int error) {
  if (error == kUnknownName || error == kNobodyToAsk) return Reason::unknown_name;
  return is_permission(error) ? Reason::not_permitted : Reason::not_offered;
}

// Appends those that were refused for one of the reasons; names that do not fit are left out, not the reason.
void tell_refused(char* text, std::size_t size, Reason wanted, const char* reason) {
  const std::size_t last = std::strlen(text) + size / 4;
  std::size_t used = std::strlen(text);
  bool any = false;
  for (std::size_t i = 0; i < wanted_counters.count; ++i) {
    const WantedCounter& counter = wanted_counters.of[i];
    if (counter.error == 0 || reason_of(counter.error) != wanted) continue;
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
  return "default, memory, branch, tlb, topdown, up to 16 counters by perf's names or libpfm4's with commas "
         "between, "
         "or list";
}

void look_up_counters(AskForNames ask) {
  if (!counters_on || wanted_counters.tried) return;
  char names[kMaxCounters * kNameBytes];
  std::size_t used = 0;
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if (wanted_counters.of[i].to_look_up)
      used += static_cast<std::size_t>(std::snprintf(
          names + used, sizeof names - used, "%s%.*s", used != 0 ? "," : "",
          static_cast<int>(wanted_counters.of[i].row.name.size()), wanted_counters.of[i].row.name.data()));
  if (used == 0) return;
  char answer[8192];
  unknown_reason[0] = '\0';
  const char* line = ask(names, answer, sizeof answer) ? answer : "";
  for (std::size_t i = 0; i < wanted_counters.count; ++i) {
    WantedCounter& counter = wanted_counters.of[i];
    if (!counter.to_look_up) continue;
    counter.to_look_up = false;
    if (*line == '\0') {
      counter.error = kNobodyToAsk;
      continue;
    }
    read_numbers(line, counter);
    line += std::strcspn(line, "\n");
    if (*line != '\0') ++line;
  }
}

const char* counters_remark() {
  static constinit char text[1280] = {};
  text[0] = '\0';
  tell_refused(text, sizeof text, Reason::not_offered, kNotOffered);
  tell_refused(text, sizeof text, Reason::not_permitted, kNotPermitted);
  tell_refused(
      text, sizeof text, Reason::unknown_name,
      unknown_reason[0] != '\0' ? unknown_reason : "lotus-collector, which knows names, could not be asked");
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
