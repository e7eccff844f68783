// Counters of a thread: names, and what is made of the kernel's answers, which are played here.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "counters/listing.hpp"
#include "counters/perf_events.hpp"
#include "counters/wanted.hpp"

using namespace lotus;

namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < wanted_counters.count; ++i) all.emplace_back(wanted_counters.of[i].row.name);
  return all;
}

// A processor with room for so many events at a time. Its answers are recorded ones.
struct Played {
  int room = 8;
  int refuse = 0;                                   // an errno for each event; with user_only: none
  std::vector<int> in_group;                        // by group
  std::vector<std::vector<std::uint64_t>> answers;  // by group: count, enabled, running, values
  std::vector<CounterSource> first;                 // by group
  std::vector<EventPage> pages;  // by event of the processor, in their order; none: no pages
  std::size_t mapped = 0, unmapped = 0;
  int reads = 0;
  std::vector<std::uint64_t> by_read;  // added to a group's first value, one after the other
  const ThreadEvents* events = nullptr;
} played;

int refuse(int error) {
  errno = error;
  return -1;
}

// The group of a leader; while an event is only tried: the last one.
std::size_t group_of(int leader) {
  for (std::uint32_t group = 0; group < played.events->groups; ++group)
    if (played.events->leaders[group] == leader) return group + played.first.size() - played.events->groups;
  return played.first.size() - 1;
}

// As Linux takes Intel's metrics of slots: in the group only that `slots` leads, and without a counter of
// their own.
int play_open(const CounterRow& row, bool user_only, int leader) {
  if (played.refuse != 0 && !user_only) return refuse(played.refuse);
  const bool is_led = row.source == CounterSource::led;
  if (leader < 0) {
    if (is_led) return refuse(EINVAL);
    played.first.push_back(row.source);
    played.in_group.push_back(1);
  } else {
    const std::size_t group = group_of(leader);
    if (is_led && played.first[group] != CounterSource::leading) return refuse(EINVAL);
    if (!is_led && played.in_group[group] == played.room) return refuse(EINVAL);
    if (!is_led) ++played.in_group[group];
  }
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

const EventPage* play_map(int) {
  return played.mapped < played.pages.size() ? &played.pages[played.mapped++] : nullptr;
}
void play_unmap(const EventPage*) { ++played.unmapped; }

// What each of the processor's counters says, and what happens meanwhile.
std::uint64_t played_counters[4];
void (*meanwhile)() = nullptr;
std::uint64_t play_counter(std::uint32_t number) {
  const std::uint64_t value = played_counters[number];
  if (meanwhile != nullptr) meanwhile();
  return value;
}
std::uint64_t played_time = 0;
std::uint64_t play_time() { return played_time; }
constexpr ProcessorCounters kPlayedProcessor{play_counter, play_time};

// Of an event that is on the processor as its counter `index` - 1, with the kernel's own time.
EventPage page_of(std::uint32_t index, std::int64_t offset) {
  EventPage page{};
  page.index = index;
  page.offset = offset;
  page.pmc_width = 48;
  page.time_enabled = page.time_running = 5000;
  page.capabilities = kMayReadCounter | kMayReadTime;
  page.time_mult = 1;
  return page;
}

long play_read(int descriptor, void* to, std::size_t bytes) {
  ++played.reads;
  for (std::uint32_t group = 0; group < played.events->groups; ++group) {
    if (played.events->leaders[group] != descriptor) continue;
    const auto& answer = played.answers[group];
    const std::size_t size = answer.size() * sizeof answer[0];
    REQUIRE(size <= bytes);
    std::memcpy(to, answer.data(), size);
    if (!played.by_read.empty()) {
      static_cast<std::uint64_t*>(to)[3] += played.by_read.front();
      played.by_read.erase(played.by_read.begin());
    }
    return static_cast<long>(size);
  }
  return -1;
}

bool play_number(int descriptor, std::uint64_t& number) {
  number = static_cast<std::uint64_t>(descriptor);
  return descriptor >= 0;
}

std::vector<std::string> listed;

// The played kernel for as long as a test lasts.
struct Playing {
  explicit Playing(int room, int refuse = 0) : real(perf_kernel) {
    played = {};
    played.room = room;
    played.refuse = refuse;
    played.events = &events;
    perf_kernel = {play_open, play_read, play_number, play_map, play_unmap, kPlayedProcessor};
    meanwhile = nullptr;
    played_time = 0;
  }
  ~Playing() {
    close_events(events);
    perf_kernel = real;
    want_counters("none");
  }
  Counts read() {
    Counts counts;
    read_counts(events, 1, Edge::end, counts);
    return counts;
  }
  PerfKernel real;
  ThreadEvents events{};
};

}  // namespace

TEST_CASE("counters: sets, perf's names, its other names for the same, raw events") {
  CHECK(want_counters("branch") == nullptr);
  CHECK(names() ==
        std::vector<std::string>{"instructions", "cycles", "branches", "branch-misses", "task-clock"});
  CHECK(want_counters("faults,cs,cpu-cycles,page-faults,r01c2") == nullptr);
  CHECK(names() == std::vector<std::string>{"page-faults", "context-switches", "cycles", "r01c2"});
  CHECK(wanted_counters.of[3].row.code == 0x1c2);
  for (const char* wrong : {"", "cycle", "cycles,", "r", "r12g", "r00000000000000001", "cycles,,faults"}) {
    CHECK(want_counters(wrong) != nullptr);
    CHECK_FALSE(counters_on);
    CHECK(wanted_counters.count == 0);
  }
  std::string many = "r1";
  for (char c = '2'; c <= '9'; ++c) many += std::string(",r") + c + ",r" + c + "f";
  CHECK(want_counters(many.c_str()) != nullptr);
}

TEST_CASE("counters: the codes are those of linux/perf_event.h") {
  CHECK(counter_named("LLC-load-misses").code == (2 | 0 << 8 | 1 << 16));
  CHECK(counter_named("dTLB-store-misses").code == (3 | 1 << 8 | 1 << 16));
  CHECK(perf_type(counter_named("LLC-loads").source) == 3);
  CHECK(counter_named("cpu-migrations").code == 4);
  CHECK(perf_type(counter_named("cpu-migrations").source) == 1);
}

TEST_CASE("counters: one group where there is room, values in their order") {
  Playing playing(8);
  want_counters("instructions,page-faults,cycles,cache-misses");
  played.answers = {{3, 1000, 1000, 11, 22, 33}};
  const Counts counts = playing.read();
  CHECK(playing.events.groups == 1);
  CHECK(counts.known == 0b1111);
  CHECK(counts.values[0] == 11);
  CHECK(counts.values[2] == 22);
  CHECK(counts.values[3] == 33);
  CHECK(counts.times[0].enabled == 1000);
}

TEST_CASE("counters: what does not fit into a group begins another one, with times of its own") {
  Playing playing(2);
  want_counters("instructions,cycles,cache-references,cache-misses,branches");
  played.answers = {{2, 900, 300, 1, 2}, {2, 900, 300, 3, 4}, {1, 900, 299, 5}};
  const Counts counts = playing.read();
  CHECK(playing.events.groups == 3);
  CHECK(counts.known == 0b11111);
  for (std::size_t i = 0; i < 5; ++i) CHECK(counts.values[i] == i + 1);
  CHECK(counts.times[2].running == 299);
}

TEST_CASE("counters: what reading counts itself is none of the program's; a counter that wraps goes on") {
  Playing playing(8);
  want_counters("instructions,cycles");
  played.answers = {{2, 900, 900, 7, 8}};
  playing.read();
  playing.events.own[0] = 40;
  Counts from{}, to{};
  from.values[0] = UINT64_MAX - 9;
  to.values[0] = 100;
  CHECK(counted(playing.events, 0, from, to) == 70);
  to.values[0] = 20;
  CHECK(counted(playing.events, 0, from, to) == 0);
}

TEST_CASE("counters: what comes between while reading is measured is not taken for its own") {
  Playing playing(8);
  want_counters("instructions");
  played.answers = {{1, 900, 900, 0}};
  played.by_read = {0, 900, 1000, 1040, 2000, 7000, 7100, 7140, 8000, 8090};
  playing.read();
  CHECK(playing.events.own[0] == 40);
}

TEST_CASE("counters: an answer of another size gives the group up, the others go on") {
  Playing playing(1);
  want_counters("instructions,cycles");
  played.answers = {{1, 900, 900, 7, 8}, {1, 900, 900, 5}};
  CHECK(playing.read().known == 0b10);
  played.answers[0] = {1, 950, 950, 9};
  CHECK(playing.read().known == 0b10);
}

TEST_CASE("counters: without permission for the kernel's part, the program's part is counted") {
  Playing playing(8, EACCES);
  want_counters("instructions,page-faults");
  try_counters();
  CHECK(wanted_counters.of[0].error == 0);
  CHECK(wanted_counters.of[0].user_only);
  CHECK_FALSE(wanted_counters.of[1].user_only);
  CHECK(counters_remark() == nullptr);
  want_counters("instructions,cpu-migrations");  // which happen in the kernel: they would all be 0
  try_counters();
  CHECK(wanted_counters.of[0].user_only);
  CHECK(wanted_counters.of[1].error == EACCES);
  CHECK_FALSE(wanted_counters.of[1].user_only);
  CHECK(std::string(counters_remark()).find("perf_event_paranoid=1") != std::string::npos);
}

TEST_CASE("counters: what the kernel refuses is told once, with what to do; the kernel's own counts go on") {
  Playing playing(8, ENOENT);
  want_counters("instructions,page-faults,cycles");
  try_counters();
  const std::string remark = counters_remark();
  CHECK(remark.find("instructions, cycles") != remark.npos);
  CHECK(remark.find("this machine does not offer them") != remark.npos);
  CHECK(playing.read().known == 0b10);
}

TEST_CASE("pages: what the kernel kept and what the processor's counter says, which is signed and wraps") {
  EventPage page = page_of(3, 1'000'000);
  PageRead read{};
  played_counters[2] = 234;
  REQUIRE(read_page(page, kPlayedProcessor, read));
  CHECK(read.value == 1'000'234);
  played_counters[2] =
      (std::uint64_t{1} << 48) - 1000;  // the kernel starts it below 0, so that it interrupts
  REQUIRE(read_page(page, kPlayedProcessor, read));
  CHECK(read.value == 999'000);
  played_counters[2] = 7;
  page.offset = static_cast<std::int64_t>(UINT64_MAX - 2);
  REQUIRE(read_page(page, kPlayedProcessor, read));
  CHECK(read.value == 4);
  page.index = 0;  // not on the processor: what was counted until then
  REQUIRE(read_page(page, kPlayedProcessor, read));
  CHECK(read.value == UINT64_MAX - 2);
}

TEST_CASE("pages: a thread that leaves its core while it reads, reads again") {
  static EventPage page;
  page = page_of(1, 1000);
  played_counters[0] = 50;
  played_counters[1] = 3;
  meanwhile = [] {
    page.lock += 2;  // it was taken off and comes back on another counter
    page.offset = 1060;
    page.index = 2;
    meanwhile = nullptr;
  };
  PageRead read{};
  REQUIRE(read_page(page, kPlayedProcessor, read));
  CHECK(read.value == 1063);
  meanwhile = [] { page.lock += 2; };
  CHECK_FALSE(read_page(page, kPlayedProcessor, read));
  meanwhile = nullptr;
}

TEST_CASE("pages: times, of which the processor says how long the last turn has lasted") {
  EventPage page = page_of(1, 0);
  page.time_enabled = 9000;
  page.time_running = 3000;
  page.time_offset = 100;
  page.time_mult = 3;
  page.time_shift = 1;
  played_time = 401;
  PageRead read{};
  REQUIRE(read_page(page, kPlayedProcessor, read));
  CHECK(read.enabled == 9000 + 100 + 601);
  CHECK(read.running == 3000 + 100 + 601);
  page.index = 0;
  REQUIRE(read_page(page, kPlayedProcessor, read));
  CHECK(read.enabled == 9000 + 701);
  CHECK(read.running == 3000);
  page.capabilities |= kTimeIsShort;  // a counter of 8 bits that has wrapped since
  page.time_cycles = 400;
  page.time_mask = 0xff;
  played_time = 10;
  REQUIRE(read_page(page, kPlayedProcessor, read));
  CHECK(read.enabled == 9000 + 100 + (400 + ((10 - 400) & 0xff)) * 3 / 2);
  page.capabilities = kMayReadCounter;  // on in turns, and the time of a turn is not known
  CHECK_FALSE(read_page(page, kPlayedProcessor, read));
  page.time_running = page.time_enabled;
  CHECK(read_page(page, kPlayedProcessor, read));
  page.capabilities = kMayReadTime;
  CHECK_FALSE(read_page(page, kPlayedProcessor, read));
}

TEST_CASE("pages: the kernel is asked only for what needs it, in a group of its own") {
  if (!pages_are_of_use()) return;
  Playing playing(8);
  want_counters("instructions,cpu-migrations,cycles");
  played.pages = {page_of(1, 100), page_of(2, 200)};
  played.answers = {{}, {1, 900, 900, 7}};
  played_counters[0] = 11;
  played_counters[1] = 22;
  const Counts counts = playing.read();
  CHECK(playing.events.groups == 2);
  CHECK(counts.known == 0b111);
  CHECK(counts.values[0] == 111);
  CHECK(counts.values[1] == 7);
  CHECK(counts.values[2] == 222);
  CHECK(counts.times[0].enabled == 5000);
  const int reads = played.reads;
  close_events(playing.events);
  CHECK(played.unmapped == 2);
  want_counters("instructions,cycles");
  played.mapped = 0;
  CHECK(playing.read().known == 0b11);
  CHECK(played.reads == reads);
  played.pages[1].lock = 1;
  played.pages[1].capabilities = 0;  // no longer: the kernel is asked for the group
  played.answers = {{2, 900, 900, 5, 6}};
  const Counts asked = playing.read();
  CHECK(asked.values[0] == 5);
  CHECK(asked.values[1] == 6);
}

TEST_CASE("pages: a forked child has none of its parent's, and does not touch them") {
  if (!pages_are_of_use()) return;
  Playing playing(8);
  want_counters("instructions");
  played.pages = {page_of(1, 100)};
  played.answers = {{1, 900, 900, 5}};
  CHECK(playing.read().values[0] != 5);
  const pid_t child = fork();
  if (child == 0) {
    Counts counts;
    read_counts(playing.events, 1, Edge::end, counts);
    const bool asked = counts.values[0] == 5;
    close_events(playing.events);
    _exit(asked && played.unmapped == 0 ? 0 : 1);
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("topdown: slots lead their metrics, what is wanted beside them fills the room") {
  Playing playing(4);
  const ProcessorId sapphire_rapids{"GenuineIntel", 6, 0x8f};
  CHECK(want_counters("topdown", sapphire_rapids) == nullptr);
  CHECK(names() == std::vector<std::string>{"slots", "topdown-retiring", "topdown-bad-spec",
                                            "topdown-fe-bound", "topdown-be-bound", "topdown-heavy-ops",
                                            "topdown-br-mispredict", "topdown-fetch-lat", "topdown-mem-bound",
                                            "instructions", "cycles", "page-faults", "task-clock"});
  try_counters();
  for (std::size_t i = 0; i < wanted_counters.count; ++i) CHECK(wanted_counters.of[i].error == 0);
  CHECK(counters_remark() == nullptr);
  played.answers = {{11, 900, 900, 1000, 300, 100, 200, 400, 30, 90, 150, 250, 700, 250}};
  const Counts counts = playing.read();
  CHECK(playing.events.groups == 1);
  CHECK(counts.values[8] == 250);
  CHECK(counts.values[10] == 250);
  CHECK(counts.known == 0b1111111111111);
}

TEST_CASE("topdown: a metric brings its leader, wherever it is named") {
  Playing playing(2);
  const ProcessorId ice_lake{"GenuineIntel", 6, 0x6a};
  CHECK(want_counters("instructions,cycles,topdown-be-bound,branches", ice_lake) == nullptr);
  CHECK(names() ==
        std::vector<std::string>{"instructions", "cycles", "slots", "topdown-be-bound", "branches"});
  played.answers = {{2, 900, 450, 1, 2}, {3, 900, 450, 1000, 400, 77}};
  const Counts counts = playing.read();
  CHECK(playing.events.groups == 2);
  CHECK(counts.values[3] == 400);
  CHECK(counts.values[4] == 77);
  CHECK(want_counters("topdown-mem-bound", ice_lake) != nullptr);  // since Sapphire Rapids
}

TEST_CASE("topdown: where slots are refused, so are their metrics, and the rest goes on") {
  Playing playing(8, ENOENT);
  CHECK(want_counters("topdown", {"GenuineIntel", 6, 0x8f}) == nullptr);
  try_counters();
  CHECK(wanted_counters.of[1].error == ENOENT);
  CHECK(std::string(counters_remark()).find("slots, topdown-retiring") != std::string::npos);
  const Counts counts = playing.read();
  CHECK(counts.known == 0b1100000000000);
}

TEST_CASE("topdown: AMD's events by their numbers, as many as a core counts at a time in each group") {
  Playing playing(6);
  CHECK(want_counters("topdown", {"AuthenticAMD", 25, 0x11}) == nullptr);
  const auto code = [](std::string_view name) {
    for (std::size_t i = 0; i < wanted_counters.count; ++i)
      if (wanted_counters.of[i].row.name == name) return wanted_counters.of[i].row.code;
    return std::uint64_t{0};
  };
  CHECK(code("de_no_dispatch_per_slot.backend_stalls") == 0x100001ea0);
  CHECK(code("no_ops_from_frontend.cmask_6") == 0x1060001a0);
  CHECK(code("ex_ret_ops") == 0xc1);
  played.answers = {{6, 900, 300, 1, 2, 3, 4, 5, 6}, {6, 900, 300, 7, 8, 9, 10, 11, 12}, {1, 900, 300, 13}};
  const Counts counts = playing.read();
  CHECK(playing.events.groups == 3);
  for (std::size_t i = 0; i < 13; ++i) CHECK(counts.values[i] == i + 1);
}

TEST_CASE("topdown: of an unknown processor only what is known is counted, and that is said") {
  Playing playing(8);
  CHECK(want_counters("topdown", {"GenuineIntel", 6, 0x55}) == nullptr);  // Skylake
  CHECK(names() == std::vector<std::string>{"instructions", "cycles", "page-faults", "task-clock"});
  try_counters();
  CHECK(std::string(counters_remark()).find("no top-down analysis is known") != std::string::npos);
  CHECK(want_counters("default", {"GenuineIntel", 6, 0x55}) == nullptr);
  CHECK(counters_remark() == nullptr);
}

TEST_CASE("counters: several sets, each counter once") {
  CHECK(want_counters("branch,tlb") == nullptr);
  CHECK(names() == std::vector<std::string>{"instructions", "cycles", "branches", "branch-misses",
                                            "task-clock", "dTLB-loads", "dTLB-load-misses",
                                            "iTLB-load-misses", "page-faults"});
  CHECK(want_counters("default,memory,tlb") != nullptr);  // more than 16
  want_counters("none");
}

TEST_CASE("counters: the list has each counter of the machine once, and counts nothing") {
  Playing playing(8, ENOENT);
  listed.clear();
  CHECK(want_counters("list") == nullptr);
  CHECK(wanted_counters.listed);
  CHECK_FALSE(counters_on);
  list_counters([](const char* line) { listed.emplace_back(line); });
  REQUIRE(listed.size() == 4);
  CHECK(listed[0].find("counters of this machine (") != std::string::npos);
  CHECK(listed[1] == "  counted: page-faults, minor-faults, major-faults, context-switches, task-clock");
  CHECK(listed[2].find("not counted (this machine does not offer them") != std::string::npos);
  CHECK(listed[2].find(" cpu-migrations, alignment-faults, emulation-faults, cycles, instructions,") !=
        std::string::npos);
  CHECK(listed[2].find("migrations, migrations") == std::string::npos);
  CHECK(listed[3].find("  sets: default (3 of 9 counters), ") == 0);
  CHECK_FALSE(counters_on);
}

TEST_CASE("counters: the list says which are counted in part") {
  Playing playing(8, EACCES);
  listed.clear();
  want_counters("list");
  list_counters([](const char* line) { listed.emplace_back(line); });
  REQUIRE(listed.size() == 5);
  CHECK(listed[2].find("counted (without what the kernel does for the program") != std::string::npos);
  CHECK(listed[2].find(" cycles, instructions,") != std::string::npos);
  CHECK(listed[3].find("perf_event_paranoid=1") != std::string::npos);
  CHECK(listed[3].find(" cpu-migrations, ") != std::string::npos);
}

TEST_CASE("counters: faults and CPU time without perf") {
  Playing playing(8);
  want_counters("page-faults,task-clock");
  const Counts before = playing.read();
  std::vector<char> fresh(400 * 4096, 1);
  const Counts after = playing.read();
  CHECK(fresh[4096] == 1);
  CHECK(after.values[0] - before.values[0] >= 400);
  CHECK(after.values[0] - before.values[0] < 450);
  CHECK(after.values[1] > before.values[1]);
}

TEST_CASE("counters: a descriptor that the program closed, and uses, is left alone") {
  REQUIRE(want_counters("cpu-migrations") == nullptr);
  try_counters();
  if (wanted_counters.of[0].error != 0) {
    MESSAGE("perf_event_open is not permitted here");
    return;
  }
  ThreadEvents events{};
  Counts counts;
  read_counts(events, 1, Edge::end, counts);
  REQUIRE(counts.known == 1);
  const int ours = events.leaders[0];
  CHECK(ours > 64);  // far from what a program opens next
  const int theirs = eventfd(5, EFD_CLOEXEC);
  REQUIRE(dup2(theirs, ours) == ours);
  read_counts(events, 1, Edge::end, counts);
  CHECK(counts.known == 0);
  close_events(events);
  eventfd_t value = 0;
  CHECK(eventfd_read(ours, &value) == 0);
  CHECK(value == 5);
  close(ours);
  close(theirs);
  want_counters("none");
}

TEST_CASE("counters: names that libpfm4 may know are looked up once, and those without numbers are told") {
  Playing playing(8);
  CHECK(want_counters("cycles,INST_RETIRED:ANY,LS_OTHER,page-faults,NOT_THERE") == nullptr);
  static std::string asked;
  look_up_counters([](const char* names, char* answer, std::size_t size) {
    asked += names;
    std::snprintf(answer, size,
                  "4 0x5300c0 0x7 INST_RETIRED:ANY\n1 0x4 0x0 LS_OTHER\n? NOT_THERE: no such event\n");
    return true;
  });
  CHECK(asked == "INST_RETIRED:ANY,LS_OTHER,NOT_THERE");
  CHECK(wanted_counters.of[1].row.code == 0x5300c0);
  CHECK(wanted_counters.of[1].row.code1 == 7);
  CHECK(wanted_counters.of[2].row.source == CounterSource::software);
  try_counters();
  CHECK(wanted_counters.of[1].error == 0);
  CHECK(wanted_counters.of[4].error == kUnknownName);
  CHECK(std::string(counters_remark()) == "not counted: NOT_THERE (no such event)");
  asked.clear();
  look_up_counters([](const char* names, char*, std::size_t) { return asked = names, false; });
  CHECK(asked.empty());
}

TEST_CASE("counters: nobody to ask, half an answer, nonsense") {
  Playing playing(8);
  const auto errors_after = [](AskForNames ask) {
    CHECK(want_counters("A_B,C_D") == nullptr);
    look_up_counters(ask);
    try_counters();
    return std::vector<int>{wanted_counters.of[0].error, wanted_counters.of[1].error};
  };
  CHECK(errors_after([](const char*, char*, std::size_t) { return false; }) ==
        std::vector<int>{kNobodyToAsk, kNobodyToAsk});
  CHECK(errors_after([](const char*, char* answer, std::size_t size) {
          std::snprintf(answer, size, "4 0x1");
          return true;
        }) == std::vector<int>{0, kNobodyToAsk});
  CHECK(errors_after([](const char*, char* answer, std::size_t size) {
          std::snprintf(answer, size, "2 0x1 0x0 A_B\nnonsense\n");
          return true;
        }) == std::vector<int>{kUnknownName, kUnknownName});
  CHECK(errors_after([](const char*, char* answer, std::size_t size) {
          std::snprintf(answer, size, "- A_B: not installed\n- C_D: not installed\n");
          return true;
        }) == std::vector<int>{kNobodyToAsk, kNobodyToAsk});
  CHECK(std::string(counters_remark()) == "not counted: A_B, C_D (not installed)");
  for (const char* wrong : {"A B", "a_b\n", "A_B,", "page-fault"}) CHECK(want_counters(wrong) != nullptr);
}
