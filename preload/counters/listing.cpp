#include "counters/listing.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "counters/perf_events.hpp"
#include "counters/processor.hpp"
#include "counters/wanted.hpp"

namespace lotus {
namespace {

// A line that grows; what does not fit is left out.
struct Line {
  char text[4096] = {};
  std::size_t used = 0;
  bool any = false;

  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    va_list values;
    va_start(values, format);
    const int bytes = std::vsnprintf(text + used, sizeof text - used, format, values);
    va_end(values);
    if (bytes > 0 && used + static_cast<std::size_t>(bytes) < sizeof text)
      used += static_cast<std::size_t>(bytes);
    text[used] = '\0';
  }
  void add_name(std::string_view name) {
    add("%s%.*s", any ? ", " : "", static_cast<int>(name.size()), name.data());
    any = true;
  }
};

enum class State { counted, of_user, not_permitted, not_offered };

State state_of(const CounterRow& row) {
  WantedCounter counter{row, false, 0};
  if (needs_perf(row.source)) try_counter(counter);
  if (counter.error == 0) return counter.user_only ? State::of_user : State::counted;
  return is_permission(counter.error) ? State::not_permitted : State::not_offered;
}

// Each counter once, by the name that is recorded; then the processor's own.
template <class Do>
void for_each_counter(const TopdownModel* topdown, Do what) {
  for (const CounterRow& row : kCounterRows)
    if (counter_named(row.name).name == row.name) what(row);
  if (topdown == nullptr) return;
  for (const CounterRow& row : topdown->events)
    if (counter_named(row.name).name.empty()) what(row);
}

void say_state(const TopdownModel* topdown, State wanted, const char* title, const char* reason,
               void (*say_line)(const char*)) {
  Line line;
  line.add("  %s%s%s%s: ", title, *reason != '\0' ? " (" : "", reason, *reason != '\0' ? ")" : "");
  for_each_counter(topdown, [&](const CounterRow& row) {
    if (state_of(row) == wanted) line.add_name(row.name);
  });
  if (line.any) say_line(line.text);
}

void say_sets(void (*say_line)(const char*)) {
  Line line;
  line.add("  sets: ");
  for (const CounterSet& set : kCounterSets) {
    char name[16];
    std::snprintf(name, sizeof name, "%.*s", static_cast<int>(set.name.size()), set.name.data());
    if (want_counters(name) != nullptr) continue;
    try_counters();
    std::size_t counted = 0;
    for (std::size_t i = 0; i < wanted_counters.count; ++i) counted += wanted_counters.of[i].error == 0;
    line.add("%s%s (%zu of %zu counters)", line.any ? ", " : "", name, counted, wanted_counters.count);
    line.any = true;
  }
  say_line(line.text);
  want_counters("list");
}

}  // namespace

void list_counters(void (*say_line)(const char*)) {
  const ProcessorId processor = this_processor();
  const TopdownModel* topdown = topdown_of(processor);
  Line head;
  head.add("LOTUS_COUNTERS=list: counters of this machine (%s family %llu model 0x%llx, ",
           processor.vendor.empty() ? "unknown processor," : processor.vendor.data(),
           static_cast<unsigned long long>(processor.family),
           static_cast<unsigned long long>(processor.model));
  if (topdown != nullptr)
    head.add("top-down analysis as of %s)", topdown->name.data());
  else
    head.add("no top-down analysis is known for it)");
  say_line(head.text);
  say_state(topdown, State::counted, "counted", "", say_line);
  say_state(topdown, State::of_user, "counted",
            "without what the kernel does for the program: perf_event_paranoid", say_line);
  say_state(topdown, State::not_permitted, "not counted", kNotPermitted, say_line);
  say_state(topdown, State::not_offered, "not counted", kNotOffered, say_line);
  say_sets(say_line);
}

}  // namespace lotus
