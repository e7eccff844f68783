#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "answers/causes/rows.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

std::string cores_text(const Case& c) {
  return fmt::format("{} core{}", c.findings().cores, c.findings().cores == 1 ? "" : "s");
}

}  // namespace

// Threads that help workers (pools of OpenMP, OpenCV and others) use a fifth of the workers' CPU time, and
// workers times threads are more than twice the cores, so that they wait for each other to get one.
Judgement judge_threads(const Case& c) {
  constexpr double kLeastShare = 0.2;
  constexpr double kTooMany = 2;  // threads for each core
  const SampledCpu& cpu = c.findings().sampled;
  if (c.workers() == 0) return ruled_out("there are no workers");
  if (cpu.workers <= 0) return ruled_out("no stack samples say which threads worked");
  const double share = cpu.by_helpers / cpu.workers;
  const std::uint64_t recorded = c.findings().facts.threads.most;
  const std::uint64_t most = recorded > 0 ? recorded : cpu.most_threads + 1;
  const auto threads = static_cast<double>(most * c.workers());
  const auto cores = static_cast<double>(c.findings().cores);
  // Where they use fewer, they do not wait for each other: others use the machine, or they sleep.
  constexpr double kLeastUsed = 0.5;  // of the cores
  const auto at_once = c.findings().facts.threads.at_once();
  const bool use_all = !at_once || *at_once * static_cast<double>(c.workers()) >= kLeastUsed * cores;
  Judgement out;
  out.holds = c.waits() && share >= kLeastShare && cores > 0 && threads > kTooMany * cores && use_all &&
              c.core_wait_percent() >= kTellsOfCoresPercent;
  out.explains = c.waited_percent() * std::max(share, c.core_wait_percent() / 100);
  if (out.holds) {
    const std::string who = c.workers() == 1 ? "the worker" : fmt::format("each of {} workers", c.workers());
    const PoolFinding pool = cpu.pools.empty() ? PoolFinding{} : cpu.pools.front();
    const std::string whose = pool.name.empty() ? "" : ", mostly of " + escaped(pool.name);
    const std::string remedy = pool.remedy.empty() ? "" : fmt::format("; {} gives it one", pool.remedy);
    out.words = fmt::format("{} has {} threads{}, for {}: they wait for each other{}", who, most, whose,
                            cores_text(c), remedy);
  } else {
    out.words = fmt::format("threads that help a worker took {} of the workers' CPU time",
                            human_percent(100 * share));
  }
  out.evidence = {{"threads that help, of the workers' CPU time", 100 * share, "percent"},
                  {"threads of one worker, at most", static_cast<double>(most)},
                  {"cores", cores},
                  {"fetches wait for a core", c.core_wait_percent(), "percent"}};
  constexpr double kLeastTold = 0.05;  // of what all pools used
  for (const PoolFinding& one : cpu.pools)
    if (one.ns >= kLeastTold * cpu.by_helpers)
      out.evidence.push_back({fmt::format("threads of {}, of the workers' CPU time", escaped(one.name)),
                              100 * one.ns / cpu.workers, "percent"});
  return out;
}

// Several threads that make batches want each core. Measured with workers that compute: two workers for each
// core cost a tenth, four a seventh, twelve half of what one for each makes. From three on it is told.
Judgement judge_oversubscribed(const Case& c) {
  constexpr double kTooMany = 3;  // for each core
  const auto cores = static_cast<double>(c.findings().cores);
  const auto wanted = c.wanted_cores();
  if (!wanted || cores <= 0) return ruled_out("how long fetches waited for a core was not recorded");
  Judgement out;
  const double each = *wanted / cores;
  out.holds = c.waits() && static_cast<double>(c.workers()) > cores && each >= kTooMany;
  out.explains = c.waited_percent() * c.core_wait_percent() / 100;
  const auto useful = static_cast<std::uint64_t>(std::max(1.0, cores));
  out.words = out.holds
                  ? fmt::format(
                        "{} workers want {}: fetches wait for a core for {} of their time; {} worker{} "
                        "would do, and start sooner",
                        c.workers(), cores_text(c), human_percent(c.core_wait_percent()), useful,
                        useful == 1 ? "" : "s")
                  : fmt::format("{} threads that make batches want each core, on average", human_rate(each));
  out.evidence = {{"workers", static_cast<double>(c.workers())},
                  {"cores", cores},
                  {"threads that make batches and want a core, for each core", each},
                  {"fetches wait for a core", c.core_wait_percent(), "percent"}};
  return out;
}

// While a batch is made, half a thread and more waits for the interpreter's lock, on average, and not for the
// thread that pickles the batch before; and the process computes on hardly more than one core. Threads that
// read, sleep or compute in C release it and do not wait.
Judgement judge_gil(const Case& c) {
  constexpr double kLeastWaiting = 0.5;
  constexpr double kOneCore = 1.3;
  const Facts& facts = c.findings().facts;
  const auto waiting = facts.interpreter_lock.at_once();
  if (!waiting) return ruled_out("waiting for the interpreter's lock was not recorded");
  const auto computing = facts.threads.at_once();
  Judgement out;
  out.holds = c.waits() && *waiting >= kLeastWaiting && computing.value_or(1) <= kOneCore;
  out.explains = c.waited_percent() * *waiting / (1 + *waiting);
  out.words = fmt::format(
      "{:.1f} threads of a process that makes batches wait for the interpreter's lock (GIL)", *waiting);
  if (out.holds) out.words += ": one thread runs Python at a time";
  out.evidence = {{"threads that wait for the interpreter's lock at once", *waiting},
                  {"waited for it, all threads", facts.interpreter_lock.waited / kNsPerS, "s"}};
  if (computing) out.evidence.push_back({"threads that compute at once", *computing});
  return out;
}

// Fetches wait for locks of Python for this share of their time.
constexpr double kLeastLocked = 0.3;

namespace {

// The lock that fetches waited for longest; nullptr: not for long.
const LockFinding* recorded_lock(const Case& c) {
  const auto& locks = c.findings().facts.locks;
  const bool any = !locks.empty() && c.findings().fetch_time > 0;
  return any && locks.front().total >= kLeastLocked * c.findings().fetch_time ? &locks.front() : nullptr;
}

Judgement judge_recorded_lock(const Case& c, const LockFinding& lock) {
  const double share = std::min(1.0, lock.total / c.findings().fetch_time);
  Judgement out;
  out.holds = c.waits();
  out.explains = c.waited_percent() * share;
  out.words =
      fmt::format("making batches waited {} for a {}{}, {} of its time", human_time(lock.total), lock.name,
                  lock.op.empty() ? "" : " in " + escaped(lock.op), human_percent(100 * share));
  out.evidence = {{"waiting for " + lock.name, lock.total / kNsPerS, "s"},
                  {"waits of more than 100 µs", static_cast<double>(lock.waits)},
                  {"of the time in which batches are made", 100 * share, "percent"}};
  return out;
}

}  // namespace

namespace {

// How a database or a file is locked: a library asks for it, and sleeps and asks again where another one
// holds it. Python sleeps otherwise.
bool is_lock_of_file(std::string_view call) {
  return call == "usleep" || call == "nanosleep" || call == "flock" || call == "fcntl" || call == "lockf";
}

// Of the time in which batches are made, in such waits of 10 ms and more.
double share_of_file_locks(const Findings& f) {
  double sum = 0;
  for (const WaitFinding& wait : f.waits)
    if (is_lock_of_file(wait.call)) sum += wait.tally.ns;
  return f.fetch_time > 0 ? std::min(1.0, sum / f.fetch_time) : 0;
}

Judgement judge_lock_of_file(const Case& c, double share) {
  Judgement out;
  out.holds = c.waits();
  out.explains = c.waited_percent() * share;
  out.words = fmt::format(
      "workers wait for {} of the time in which batches are made, as where others hold the lock of a "
      "database or a file",
      human_percent(100 * share));
  out.words += where_fetches_wait(c.findings());
  out.evidence = {
      {"waiting for locks of files, or asking for them again, of making batches", 100 * share, "percent"}};
  return out;
}

}  // namespace

// Fetches waited for a lock, as was recorded. Or, for locks of other libraries: workers make their samples
// one after the other, and do not compute meanwhile: they wait for one lock, or for one thing that serves one
// at a time. See taking_turns().
Judgement judge_lock(const Case& c) {
  if (const LockFinding* lock = recorded_lock(c)) return judge_recorded_lock(c, *lock);
  if (c.recording() == nullptr || c.workers() < 2) return ruled_out("there are not several workers");
  const double of_files = share_of_file_locks(c.findings());
  if (of_files >= kLeastLocked && !taking_turns(*c.recording())) return judge_lock_of_file(c, of_files);
  const TakingTurns& turns = c.recording()->turns;
  if (turns.gaps == 0) return ruled_out("too few samples to tell whether workers wait for each other");
  const double close = 100 * static_cast<double>(turns.close) / static_cast<double>(turns.gaps);
  if (!taking_turns(*c.recording()))
    return ruled_out(
        fmt::format("workers do not wait for each other: {} of the samples end close after another "
                    "worker's",
                    human_percent(close)));
  Judgement out;
  out.holds = c.waits();
  const auto workers = static_cast<double>(c.workers());
  out.explains = std::min(c.waited_percent(), 100 * (1 - 1 / workers));
  out.words = fmt::format(
      "the {} workers take turns, as if all needed one lock: samples of two workers hardly "
      "ever end at the same time ({})",
      c.workers(), human_percent(close));
  out.words += where_fetches_wait(c.findings());
  out.evidence = {{"samples that end close after another worker's", close, "percent"},
                  {"workers", workers},
                  {"fetches compute", 100 * c.findings().fetch_cpu_share().value_or(0), "percent"}};
  return out;
}

// Garbage is collected while batches are made: the dataset asks for it, or Python does so by itself, which
// samples tell.
Judgement judge_gc(const Case& c) {
  constexpr double kLeastShare = 0.2;
  constexpr double kMostlyCalled = 0.75;
  const GarbageFinding& garbage = c.findings().facts.garbage;
  if (!garbage.known || c.findings().fetch_time <= 0)
    return ruled_out("garbage collections were not recorded");
  const double called = std::min(1.0, garbage.called / c.findings().fetch_time);
  const double share = c.findings().collecting_share();
  const bool by_calls = called >= kMostlyCalled * share;
  Judgement out;
  out.holds = c.waits() && share >= kLeastShare;
  out.explains = c.waited_percent() * share;
  if (c.trials() && garbage.sampled) {
    Question question;
    question.fetch.factor = 1 - *garbage.sampled;
    out.explains = std::max(out.explains, saved_by(c.trials()->gain_of(question)));
  }
  out.general = !by_calls;  // what makes so many objects may be told apart
  const std::string of_making = human_percent(100 * share) + " of the time in which batches are made";
  if (out.holds && by_calls)
    out.words = fmt::format("{} {}",
                            garbage.calls == 1 ? "a call of gc.collect() takes"
                                               : human_count(garbage.calls) + " calls of gc.collect() take",
                            of_making);
  else if (out.holds)
    out.words = fmt::format("Python's garbage collector takes {}: it went through all objects {} times",
                            of_making, human_count(garbage.old));
  else
    out.words = fmt::format("Python's garbage collector took {}{}", of_making,
                            garbage.sampled ? "" : ", as far as gc.collect() was called");
  out.evidence = {
      {"Python's garbage collector, of the time in which batches are made", 100 * share, "percent"},
      {"gc.collect(), of the time in which batches are made", 100 * called, "percent"},
      {"calls of it", static_cast<double>(garbage.calls)},
      {"full collections", static_cast<double>(garbage.old)}};
  return out;
}

namespace {

// A function or transform, not a method, that takes half of the fetches: where copy.deepcopy copies pages, it
// is what costs. A method may be the dataset's own, which reads its index.
bool is_beside(const Case& c) {
  constexpr double kHalf = 0.5;
  if (!c.trials()) return false;
  const FetchPart& op = c.trials()->top_op();
  const bool method = op.role == OpRole::frame && op.name.find('.') != std::string::npos;
  return op.role != OpRole::collate && !method && op.share >= kHalf;
}

}  // namespace

// A worker has come to own 64 MiB or more that it shared with its parent, and a quarter of all that it
// shares: pages are copied where Python counts references to objects in them. It goes on until each worker
// has a copy of everything, or memory is used up: so it is told first, though it takes little time. Not so
// where something else than the reading of its index takes the time: see also kUrgentYields.
Judgement judge_memory(const Case& c) {
  constexpr double kLeastCopied = 64 * 1024.0 * 1024.0;
  constexpr double kLeastShare = 0.25;
  const MemoryFinding& memory = c.findings().facts.memory;
  if (memory.pid == 0) return ruled_out("private memory of a worker was not looked at");
  Judgement out;
  out.holds =
      c.workers() > 0 && memory.copied() >= kLeastCopied && memory.copied() >= kLeastShare * memory.resident;
  out.urgent = !is_beside(c);
  out.explains = 1;
  out.words = fmt::format("private memory of a worker grew from {} to {} in {} batches",
                          human_bytes(memory.first), human_bytes(memory.last), human_count(memory.batches));
  if (out.holds) out.words += ": it copies what it shared with its parent";
  out.evidence = {{"private memory of a worker, first", memory.first, "bytes"},
                  {"last", memory.last, "bytes"},
                  {"of it, pages that were shared before", memory.copied(), "bytes"},
                  {"batches made in between", static_cast<double>(memory.batches)}};
  return out;
}

// Fetches wait for a core for a quarter of their time more than the program's own workers explain by waiting
// for each other, and the program uses less than three quarters of the cores: others use them. What would
// hold up training on a quiet machine as well is told before.
Judgement judge_crowded(const Case& c) {
  constexpr double kMostUsed = 0.75;
  constexpr double kKeepsUp = 1.15;  // of a step: training waits for less than 15 %
  constexpr double kMostly = 50;     // percent
  const auto used = c.used_share();
  const auto wanted = c.wanted_cores();
  if (!wanted) return ruled_out("how long fetches waited for a core was not recorded");
  if (!used) return ruled_out("no stack samples say how much CPU time the program used");
  const double own = 100 * std::max(0.0, 1 - static_cast<double>(c.findings().cores) / *wanted);
  const double by_others = c.core_wait_percent() - own;
  Judgement out;
  // Whether the workers would keep up with training if none of the others ran.
  const double alone =
      c.mean_fetch() * (1 - by_others / 100) / static_cast<double>(std::max<std::uint64_t>(1, c.workers()));
  // Of half of the time and more, it is the larger part of whatever operation.
  out.general = by_others < kMostly;
  out.aside = alone > kKeepsUp * c.mean_step();
  out.holds = c.waits() && by_others >= kCoresShortPercent && *used < kMostUsed;
  out.explains = c.waited_percent() * std::max(0.0, by_others) / 100;
  out.words = fmt::format(
      "{} of the time in which a batch is made is waiting for a core, and the program itself uses {} of {}",
      human_percent(c.core_wait_percent()), human_percent(100 * *used), cores_text(c));
  if (out.holds) out.words += ": other programs use the machine";
  out.evidence = {{"fetches wait for a core", c.core_wait_percent(), "percent"},
                  {"cores that the program itself used", 100 * *used, "percent"}};
  return out;
}

// All processes stood still at once: see Activity. At least a twentieth of training's time.
Judgement judge_suspended(const Case& c) {
  constexpr double kLeastPercent = 5;
  double sum = 0;
  for (const Standstill& standstill : c.findings().standstills) sum += standstill.ns;
  if (sum <= 0) return ruled_out("there is no time in which all processes stood still");
  Judgement out;
  const double whole = std::max(c.training_time(), c.findings().loop);
  out.explains = whole > 0 ? std::min(100.0, 100 * sum / whole) : 0;
  out.holds = out.explains >= kLeastPercent;
  const std::size_t times = c.findings().standstills.size();
  out.words = fmt::format("no process of the program ran for {}{}: it was suspended, or its machine was",
                          human_time(sum), times > 1 ? fmt::format(", {} times", times) : "");
  out.evidence = {{"all processes stood still", sum / kNsPerS, "s"}, {"times", static_cast<double>(times)}};
  return out;
}

}  // namespace lotus::analyzer
