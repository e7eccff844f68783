#include "counters/perf_events.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "system/clock.hpp"

namespace lotus {
namespace {

// glibc has it for GNU programs only.
constexpr int kUsageOfThread = 1;

constinit StillHere still_here;

// Of the processor's own counters; Intel's metrics are no counters, and stand in no page.
bool may_have_page(CounterSource source) {
  return source == CounterSource::hardware || source == CounterSource::cache || source == CounterSource::raw;
}

// nullptr, too, where the kernel does not let user space read the counter.
const EventPage* page_of(const ThreadEvents& events, CounterSource source, int descriptor) {
  if (events.mapped_by == 0 || !may_have_page(source)) return nullptr;
  const EventPage* page = perf_kernel.map(descriptor);
  if (page == nullptr || (page->capabilities & kMayReadCounter) != 0) return page;
  perf_kernel.unmap(page);
  return nullptr;
}

// Whether all its members have pages.
bool is_in_pages(const ThreadEvents& events, std::uint32_t group) {
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if (events.group_of[i] == group && events.pages[i] == nullptr) return false;
  return true;
}

// Above what a program expects its own next descriptor to be, and low enough for a small table.
int moved_up(int descriptor) {
  constexpr rlim_t kHigh = 896;
  rlimit limit{};
  if (descriptor < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return descriptor;
  const auto least = static_cast<int>(std::min(kHigh, limit.rlim_cur - limit.rlim_cur / 4));
  const auto high = static_cast<int>(syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, least));
  syscall(SYS_close, descriptor);
  return high;
}

bool is_still(int descriptor, std::uint64_t expected) {
  std::uint64_t number = 0;
  return perf_kernel.number(descriptor, number) && number == expected;
}

// The group that an event joins if the kernel lets it; kNoGroup: it begins one.
std::uint32_t group_to_join(const ThreadEvents& events, const CounterRow& row) {
  if (row.source == CounterSource::leading || events.groups == 0) return kNoGroup;
  if (row.source != CounterSource::led) {
    std::uint32_t group = events.groups - 1;
    if (row.source == CounterSource::software)
      return events.apart[group] || !is_in_pages(events, group) ? group : kNoGroup;
    while (group > 0 && events.apart[group]) --group;
    return events.apart[group] ? kNoGroup : group;
  }
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if (wanted_counters.of[i].row.source == CounterSource::leading) return events.group_of[i];
  return kNoGroup;
}

// Into a group that there is, else as the first one of another: a group is on the processor as a whole, and
// what is too much for it the kernel refuses.
void add_event(ThreadEvents& events, std::size_t counter) {
  const WantedCounter& wanted = wanted_counters.of[counter];
  std::uint32_t group = group_to_join(events, wanted.row);
  int opened = group != kNoGroup ? perf_kernel.open(wanted.row, wanted.user_only, events.leaders[group]) : -1;
  const bool first = opened < 0;
  if (first) {
    if (wanted.row.source == CounterSource::led) return;
    group = events.groups;
    opened = group < kMaxGroups ? perf_kernel.open(wanted.row, wanted.user_only, -1) : -1;
  }
  opened = moved_up(opened);
  std::uint64_t number = 0;
  if (!perf_kernel.number(opened, number)) {
    if (opened >= 0) syscall(SYS_close, opened);
    return;
  }
  if (first) {
    events.leaders[group] = opened;
    events.ids[group] = number;
    events.members[group] = 0;
    events.apart[group] = wanted.row.source == CounterSource::software && events.groups > 0;
    ++events.groups;
  }
  events.descriptors[counter] = opened;
  events.member_ids[counter] = number;
  events.group_of[counter] = static_cast<std::uint8_t>(group);
  events.place_of[counter] = static_cast<std::uint8_t>(events.members[group]++);
  events.pages[counter] = page_of(events, wanted.row.source, opened);
}

// 0, or the errno of an event that is refused.
int try_event(const CounterRow& row, bool user_only) {
  int leader = -1;
  if (row.source == CounterSource::led) {
    leader = perf_kernel.open(kSlots, user_only, -1);
    if (leader < 0) return errno;
  }
  const int event = perf_kernel.open(row, user_only, leader);
  const int error = event < 0 ? errno : 0;
  if (event >= 0) syscall(SYS_close, event);
  if (leader >= 0) syscall(SYS_close, leader);
  return error;
}

struct GroupRead {
  std::uint64_t count, enabled, running, values[kMaxCounters];
};

bool read_group(ThreadEvents& events, std::uint32_t group, GroupRead& read) {
  const std::size_t expected = 3 * sizeof(std::uint64_t) + events.members[group] * sizeof(std::uint64_t);
  int& leader = events.leaders[group];
  if (leader < 0) return false;
  if (is_still(leader, events.ids[group]) &&
      perf_kernel.read(leader, &read, sizeof read) == static_cast<long>(expected) &&
      read.count == events.members[group])
    return true;
  leader = -1;
  return false;
}

// False: the kernel is to be asked.
bool read_pages(const ThreadEvents& events, std::uint32_t group, Counts& counts) {
  if (!still_here.is(events.mapped_by)) return false;
  std::uint32_t known = 0;
  for (std::size_t i = 0; i < wanted_counters.count; ++i) {
    if (events.group_of[i] != group) continue;
    PageRead read{};
    if (events.pages[i] == nullptr || !read_page(*events.pages[i], perf_kernel.processor, read)) return false;
    if (known == 0) counts.times[group] = {read.enabled, read.running};
    counts.values[i] = read.value;
    known |= 1u << i;
  }
  counts.known |= known;
  return known != 0;
}

void read_groups(ThreadEvents& events, Counts& counts) {
  for (std::uint32_t group = 0; group < events.groups; ++group) {
    if (read_pages(events, group, counts)) continue;
    GroupRead read;
    if (!read_group(events, group, read)) continue;
    counts.times[group] = {read.enabled, read.running};
    for (std::size_t i = 0; i < wanted_counters.count; ++i) {
      if (events.group_of[i] != group) continue;
      counts.values[i] = read.values[events.place_of[i]];
      counts.known |= 1u << i;
    }
  }
}

std::uint64_t usage_of(const rusage& usage, UsageCount count) {
  switch (count) {
    case UsageCount::faults:
      return static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt);
    case UsageCount::minor_faults:
      return static_cast<std::uint64_t>(usage.ru_minflt);
    case UsageCount::major_faults:
      return static_cast<std::uint64_t>(usage.ru_majflt);
    case UsageCount::switches:
      return static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
  }
  return 0;
}

// A value that is not asked of perf. `usage` is filled once it is needed.
std::uint64_t kept_by_kernel(const CounterRow& row, rusage& usage, bool& filled) {
  if (row.source == CounterSource::cpu_clock) return cpu_ns();
  if (!filled) syscall(SYS_getrusage, kUsageOfThread, &usage);
  filled = true;
  return usage_of(usage, static_cast<UsageCount>(row.code));
}

void read_kept(Counts& counts) {
  rusage usage{};
  bool filled = false;
  for (std::size_t i = 0; i < wanted_counters.count; ++i) {
    if (needs_perf(wanted_counters.of[i].row.source)) continue;
    counts.values[i] = kept_by_kernel(wanted_counters.of[i].row, usage, filled);
    counts.known |= 1u << i;
  }
}

void read_once(ThreadEvents& events, Edge edge, Counts& counts) {
  counts.known = 0;
  if (edge == Edge::begin) read_kept(counts);
  read_groups(events, counts);
  if (edge == Edge::end) read_kept(counts);
}

bool counts_switches(const CounterRow& row) {
  return !needs_perf(row.source) && row.source != CounterSource::cpu_clock &&
         static_cast<UsageCount>(row.code) == UsageCount::switches;
}

// Where a call of the kernel returns, it likes to run something else. That shall not come between the read
// and what is counted: once it came, it is not due again.
void read_all(ThreadEvents& events, Edge edge, Counts& counts) {
  constexpr int kTimes = 3;
  for (int time = 0; time < kTimes; ++time) {
    const std::uint64_t before = edge == Edge::begin ? switches_now() : 0;
    read_once(events, edge, counts);
    if (edge == Edge::end || before == switches_now()) return;
  }
}

// The least of several: the first finds the kernel's code out of the caches, and another thread's turn, a
// fault or an interrupt may come between any two reads. Taken off from each call, one switch would be one
// from all.
void measure_own(ThreadEvents& events) {
  constexpr int kTimes = 5;
  for (int time = 0; time < kTimes; ++time) {
    Counts from, to;
    read_all(events, Edge::begin, from);
    cpu_ns();
    cpu_ns();
    read_all(events, Edge::end, to);
    for (std::size_t i = 0; i < wanted_counters.count; ++i) {
      const bool known = ((from.known & to.known) >> i & 1) != 0;
      const std::uint64_t own = known ? to.values[i] - from.values[i] : 0;
      events.own[i] = time == 0 ? own : std::min(events.own[i], own);
    }
  }
}

void open_events(ThreadEvents& events, std::uint64_t owner) {
  close_events(events);
  events.owner = owner;
  events.mapped_by = pages_are_of_use() ? still_here.begin(static_cast<std::uint32_t>(getpid())) : 0;
  for (std::size_t i = 0; i < wanted_counters.count; ++i) {
    events.descriptors[i] = -1;
    events.pages[i] = nullptr;
    events.group_of[i] = kNoGroup;
  }
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if (needs_perf(wanted_counters.of[i].row.source) && wanted_counters.of[i].error == 0)
      add_event(events, i);
  measure_own(events);
}

}  // namespace

void put_switches(std::uint64_t switches, Counts& counts) {
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if (counts_switches(wanted_counters.of[i].row)) counts.values[i] = switches;
}

std::uint64_t switches_now() {
  for (std::size_t i = 0; i < wanted_counters.count; ++i) {
    if (!counts_switches(wanted_counters.of[i].row)) continue;
    rusage usage{};
    syscall(SYS_getrusage, kUsageOfThread, &usage);
    return usage_of(usage, UsageCount::switches);
  }
  return 0;
}

void read_counts(ThreadEvents& events, std::uint64_t owner, Edge edge, Counts& counts) {
  const int saved = errno;
  if (events.owner != owner) open_events(events, owner);
  read_all(events, edge, counts);
  errno = saved;
}

std::uint64_t counted(const ThreadEvents& events, std::size_t counter, const Counts& from, const Counts& to) {
  const std::uint64_t all = to.values[counter] - from.values[counter];
  return all > events.own[counter] ? all - events.own[counter] : 0;
}

void close_events(ThreadEvents& events) {
  if (events.owner == 0) return;
  const int saved = errno;
  const bool mapped = still_here.is(events.mapped_by);
  for (std::size_t i = 0; i < wanted_counters.count; ++i) {
    if (mapped && events.pages[i] != nullptr) perf_kernel.unmap(events.pages[i]);
    events.pages[i] = nullptr;
    if (is_still(events.descriptors[i], events.member_ids[i])) syscall(SYS_close, events.descriptors[i]);
  }
  events.owner = 0;
  events.groups = 0;
  errno = saved;
}

void try_counter(WantedCounter& counter) {
  counter.error = try_event(counter.row, false);
  // What software events count happens in the kernel: without its part a migration is none.
  const bool may_be_of_user = is_of_processor(counter.row.source);
  if (!may_be_of_user || !is_permission(counter.error)) return;
  counter.error = try_event(counter.row, true);
  counter.user_only = counter.error == 0;
}

void try_counters() {
  if (!counters_on || wanted_counters.tried) return;
  wanted_counters.tried = true;
  const int saved = errno;
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if (needs_perf(wanted_counters.of[i].row.source) && wanted_counters.of[i].error == 0)
      try_counter(wanted_counters.of[i]);
  errno = saved;
}

}  // namespace lotus
