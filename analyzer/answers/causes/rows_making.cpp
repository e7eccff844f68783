#include <fmt/format.h>

#include <algorithm>

#include "answers/causes/rows.hpp"
#include "answers/report/system_calls.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

// Parts of less than this share of a fetch are no cause by themselves, however long training waits.
constexpr double kLeastShare = 0.3;

// The time that passes because of a part of the fetches. What computes is explained by its whole time. What
// sleeps or reads could be hidden by more workers: only half of it is.
double explained_by(const Case& c, const FetchPart& part, const char* action) {
  if (part.computes) return c.trials()->explained_by(part.name);
  return saved_by(c.trials()->gain(action));
}

// Without a replay: the part of the waiting that its share of the fetches is; only half of it, if fetches do
// not compute for most of their time, or that is not known.
Judgement judge_by_share(const Case& c, double share, const std::string& what) {
  const bool computes = c.findings().fetch_cpu_share().value_or(0) >= kComputes;
  Judgement out;
  out.general = true;
  out.holds = c.waits() && share >= kLeastShare;
  out.explains = c.waited_percent() * share * (computes ? 1 : 0.5);
  out.words =
      fmt::format("{} takes {} of the time in which a batch is made", what, human_percent(100 * share));
  return out;
}

}  // namespace

namespace {

// Whether the first epoch read from storage what later ones had from the page cache, and took clearly longer
// for it. Four batches of each are the least that means are formed of; 1 MiB is more than a program's own
// modules; a quarter may be what the cache had dropped again. A quarter of the difference is idle: scattered
// reads from a virtual disk were measured to compute for half of it, and what a dataset computes once and
// keeps for later epochs hardly waits at all.
bool reads_once(const LoaderFinding& loader) {
  constexpr std::uint64_t kFewestBatches = 4;
  constexpr double kLeastRead = 1024 * 1024.0;
  constexpr double kReadsMore = 4;
  constexpr double kTakesLonger = 1.5;
  constexpr double kIdle = 0.25;
  const EpochsFinding& first = loader.first_epoch;
  const EpochsFinding& later = loader.later_epochs;
  if (first.measured < kFewestBatches || later.measured < kFewestBatches || !first.read || !later.read)
    return false;
  const double longer = *first.mean_fetch() - *later.mean_fetch();
  return *first.read >= kLeastRead && *first.mean_read() >= kReadsMore * *later.mean_read() &&
         *first.mean_fetch() >= kTakesLonger * *later.mean_fetch() &&
         *first.mean_idle() - *later.mean_idle() >= kIdle * longer;
}

std::string why_not_once(const LoaderFinding& loader) {
  const EpochsFinding& first = loader.first_epoch;
  const EpochsFinding& later = loader.later_epochs;
  if (!first.read || !later.read) return "what was read from storage was not recorded";
  if (later.batches == 0) return "there is one epoch only: whether a second one is quicker is not known";
  return fmt::format("{} were read from storage in first epochs and {} in later ones, a batch took {} and {}",
                     human_bytes(*first.read), human_bytes(*later.read),
                     human_time(first.mean_fetch().value_or(0)), human_time(later.mean_fetch().value_or(0)));
}

}  // namespace

// The first epoch waits for the disk, the later ones do not, and a tenth of training's time is due to that:
// means over the run are those of neither. What training waits for in later epochs it would wait for anyway.
Judgement judge_page_cache(const Case& c) {
  constexpr double kLeastExplained = 10;  // percent
  const LoaderFinding* loader = c.loader();
  if (loader == nullptr) return ruled_out("there is no loader");
  if (!reads_once(*loader)) return ruled_out(why_not_once(*loader));
  const EpochsFinding& first = loader->first_epoch;
  const EpochsFinding& later = loader->later_epochs;
  const double anyway = static_cast<double>(first.batches) * later.mean_waited().value_or(0);
  Judgement out;
  out.explains = loader->loop > 0 ? 100 * std::max(0.0, first.waited - anyway) / loader->loop : 0;
  out.holds = c.waits() && out.explains >= kLeastExplained;
  out.words =
      fmt::format("{}: epoch 0: {} a batch, later {}; {} were read from storage in it, {} later",
                  out.holds ? "the first epoch waits for the disk, later ones read from the page cache"
                            : "the first epoch is slower, but little of training's time",
                  human_time(*first.mean_fetch()), human_time(*later.mean_fetch()), human_bytes(*first.read),
                  human_bytes(*later.read));
  out.evidence = {
      {"mean time to make a batch of the first epoch", *first.mean_fetch() / kNsPerMs, "ms"},
      {"of a later epoch", *later.mean_fetch() / kNsPerMs, "ms"},
      {"neither computing nor waiting for a core, in the first epoch", *first.mean_idle() / kNsPerMs, "ms"},
      {"in a later one", *later.mean_idle() / kNsPerMs, "ms"},
      {"read from storage in the first epoch", *first.read, "bytes"},
      {"in later ones", *later.read, "bytes"},
      {"training waited in the first epoch", first.waited / kNsPerS, "s"},
      {"in later ones", later.waited / kNsPerS, "s"}};
  return out;
}

// A Loader reads and does not compute for 40 % of the fetches' time, and a reading that takes none gains.
Judgement judge_storage(const Case& c) {
  if (!c.trials()) return ruled_out("too few batches to tell");
  const FetchPart& reading = c.trials()->reading();
  if (reading.name.empty()) return ruled_out("no Loader waits for files in 40 % of the time of fetches");
  if (c.loader() != nullptr && reads_once(*c.loader()))
    return ruled_out("only the first epoch reads from storage: see page_cache");
  Judgement out;
  out.holds = c.trials()->worthwhile("storage");
  out.explains = saved_by(c.trials()->gain("storage"));
  out.words =
      fmt::format("storage is slow: {} of the time in which a batch is made, {} reads and does not compute",
                  human_percent(100 * reading.share), escaped(reading.name));
  out.evidence = {{"reading without computing, of making a batch", 100 * reading.share, "percent"}};
  return out;
}

namespace {

// Of another library's loader only what it calls is seen. It may be why training waits if it takes half as
// long as the waiting, or more: in several threads at once it takes longer.
Judgement judge_op_of_other(const Case& c, const OpFinding* longest) {
  constexpr double kLeastOfWait = 0.5;
  const Findings& f = c.findings();
  const std::string loader = escaped(c.loader()->loader->name());
  if (longest == nullptr || f.making_time < kLeastOfWait * f.next)
    return ruled_out(fmt::format("what {} was seen to call takes {}, and training waited {}", loader,
                                 human_time(f.making_time), human_time(f.next)));
  const double share = longest->fetch_self / f.making_time;
  Judgement out;
  out.holds = c.waits() && share >= kLeastShare;
  out.explains = c.waited_percent() * share;
  out.words = fmt::format("{} takes {} of the time of all that {} calls", escaped(longest->op.name),
                          human_percent(100 * share), loader);
  out.evidence = {{"operation", 0, "", escaped(longest->op.name)},
                  {"of all that the loader calls", 100 * share, "percent"},
                  {"all that it calls", f.making_time / kNsPerS, "s"},
                  {"training waited", f.next / kNsPerS, "s"}};
  return out;
}

}  // namespace

namespace {

// `Labels.wait (waiting for a lock: sem_wait)`
std::string waiting_in(const WaitFinding& wait) {
  return fmt::format("{} ({})", escaped(wait.function), escaped(in_words(wait.call)));
}

// Where an operation waits, or the dataset's own code (`op` empty), as evidence of its cause and in words.
// `time`: what it takes, in ns.
void tell_of_waits(Judgement& out, const Findings& f, std::string_view op, double time) {
  constexpr double kLeastOfTime = 0.2;  // of waits in all, to be told
  constexpr double kLeastOfPlace = 0.1;
  const auto is_of = [&](const WaitFinding& wait) {
    return op.empty() ? wait.op.outside() : wait.op.name == op;
  };
  double all = 0;
  for (const WaitFinding& wait : f.waits)
    if (is_of(wait)) all += wait.tally.ns;
  if (time <= 0 || all < kLeastOfTime * time) return;
  std::string places;
  for (const WaitFinding& wait : f.waits) {
    if (!is_of(wait) || wait.tally.ns < kLeastOfPlace * time) continue;
    const double share = std::min(1.0, wait.tally.ns / time);
    const std::string doing = escaped(in_words(wait.call));
    places +=
        fmt::format("{}{} in {}", places.empty() ? "" : ", ", human_percent(100 * share), waiting_in(wait));
    out.evidence.push_back(
        {fmt::format("{}: {}, of its time", escaped(wait.function), doing), 100 * share, "percent"});
  }
  out.words +=
      fmt::format("; it waits for {} of its time{}{}", human_percent(100 * std::min(1.0, all / time)),
                  places.empty() ? "" : ": ", places);
}

}  // namespace

std::string where_fetches_wait(const Findings& findings) {
  constexpr double kLeast = 0.2;  // of fetches' time
  if (findings.waits.empty() || findings.waits.front().tally.ns < kLeast * findings.fetch_time) return {};
  return "; they wait in " + waiting_in(findings.waits.front());
}

namespace {

// Of a library's function: whose it is, whose dataset calls it, and what all of the library takes.
std::string words_of_op(const Case& c, const FetchPart& op, Judgement& out) {
  const std::string name = escaped(op.name);
  if (op.library.empty())
    return fmt::format("{} takes {} of the time in which a batch is made", name,
                       human_percent(100 * op.share));
  out.change = "call it less, or prepare the data once, before training";
  const std::string library = escaped(op.library);
  const LoaderFinding* loader = c.loader();
  const bool known = loader != nullptr && loader->loader && !loader->loader->dataset.empty();
  const std::string caller =
      known ? fmt::format(", which {} calls,", escaped(loader->loader->dataset)) : std::string();
  if (!op.tells_of_library())
    return fmt::format("{} of {}{} takes {} of the time in which a batch is made", name, library, caller,
                       human_percent(100 * op.share));
  out.evidence.push_back(
      {"all functions of " + library + ", of making a batch", 100 * op.library_share, "percent"});
  return fmt::format("{}{} takes {} of the time in which a batch is made, {} of it {}", library, caller,
                     human_percent(100 * op.library_share), human_percent(100 * op.share / op.library_share),
                     name);
}

// The operation that takes longest, if it runs in threads beside the fetches only, and these wait meanwhile:
// what computes in the fetch leaves room for it. The replay knows nothing of it. nullptr: it is in fetches.
const OpFinding* longest_beside(const Case& c, const OpFinding* longest) {
  const Findings& f = c.findings();
  if (longest == nullptr || c.recording() == nullptr || f.fetch_time <= 0) return nullptr;
  for (const RecordedOp& op : c.recording()->ops)
    if (op.calls > 0 && op.name == longest->op.name) return nullptr;
  const double share = longest->fetch_self / f.fetch_time;
  const bool fits = share + f.fetch_cpu_share().value_or(1) <= 1;
  return share >= kLeastShare && fits && share > c.trials()->top_op().share ? longest : nullptr;
}

Judgement judge_op_beside(const Case& c, const OpFinding& op) {
  const double share = op.fetch_self / c.findings().fetch_time;
  Judgement out = judge_by_share(c, share, escaped(op.op.name));
  out.untried = true;
  out.words += ", in a thread beside it";
  out.evidence = {{"operation", 0, "", escaped(op.op.name)}, {"of making a batch", 100 * share, "percent"}};
  return out;
}

}  // namespace

// The longest operation gains if it takes half the time.
Judgement judge_op(const Case& c) {
  const OpFinding* longest = dominant_op(c.findings());
  if (c.is_other()) return judge_op_of_other(c, longest);
  if (c.trials())
    if (const OpFinding* const beside = longest_beside(c, longest)) return judge_op_beside(c, *beside);
  Judgement out;
  double share = 0;
  std::string name;
  if (c.trials()) {
    const FetchPart& op = c.trials()->top_op();
    if (op.name.empty()) return ruled_out("no operation was recorded");
    name = op.name;
    share = op.share;
    out.general = true;
    out.holds = c.trials()->worthwhile("op");
    out.explains = explained_by(c, op, "op");
    out.words = words_of_op(c, op, out);
  } else {
    if (longest == nullptr || c.findings().fetch_time <= 0) return ruled_out("no operation was recorded");
    name = longest->op.name;
    share = longest->fetch_self / c.findings().fetch_time;
    out = judge_by_share(c, share, escaped(name));
  }
  out.evidence.insert(out.evidence.begin(),
                      {{"operation", 0, "", escaped(name)}, {"of making a batch", 100 * share, "percent"}});
  tell_of_waits(out, c.findings(), name, share * c.findings().fetch_time);
  return out;
}

namespace {

// The functions of the dataset's own code by name. Fewer samples than this say little of where the time is.
std::string own_functions(const Findings& findings) {
  constexpr std::uint64_t kFewestSamples = 10;
  constexpr double kLeastTold = 0.2;  // of the own code
  std::string text;
  for (const OwnFunction& function : findings.own_functions) {
    if (function.samples < kFewestSamples || function.share < kLeastTold) continue;
    text += fmt::format("{}{} of its CPU time in {}{}", text.empty() ? "" : ", ",
                        human_percent(100 * function.share), escaped(function.name),
                        function.inside.empty() ? "" : fmt::format(" (mostly {})", escaped(function.inside)));
  }
  return text.empty() ? "" : fmt::format(" ({})", text);
}

}  // namespace

// What fetches do outside of all operations gains if it takes half the time, and is more than any operation.
Judgement judge_own_code(const Case& c) {
  const Findings& f = c.findings();
  const double share = f.fetch_time > 0 ? own_time_outside_ops(f) / f.fetch_time : 0;
  const OpFinding* longest = dominant_op(f);
  const double most = longest != nullptr && f.fetch_time > 0 ? longest->fetch_self / f.fetch_time : 0;
  if (share < kLeastShare || share < most)
    return ruled_out(fmt::format("the dataset's own code takes {} of the time in which a batch is made",
                                 human_percent(100 * share)));
  Judgement out;
  if (c.trials()) {
    out.general = true;
    out.holds = c.trials()->worthwhile("own_code");
    out.explains = explained_by(c, c.trials()->own_code(), "own_code");
    out.words = fmt::format(
        "the dataset's own code, outside any operation, takes {} of the time in which a batch is made",
        human_percent(100 * share));
  } else {
    out = judge_by_share(c, share, "the dataset's own code, outside any operation,");
  }
  out.words += own_functions(f);
  out.evidence = {{"the dataset's own code, of making a batch", 100 * share, "percent"}};
  for (const OwnFunction& function : f.own_functions)
    out.evidence.push_back({escaped(function.name) + ", of its CPU time", 100 * function.share, "percent"});
  tell_of_waits(out, f, {}, own_time_outside_ops(f));
  return out;
}

// Samples are so quick that calling for each, and stacking them one by one, is what takes the time: no
// sample takes longer than kQuickSample on average, and all that a batch takes is at most kQuickShare a
// sample. Both are some times what a call of __getitem__ and its share of torch.stack cost by themselves (3
// and 5 µs).
Judgement judge_batching(const Case& c) {
  constexpr double kQuickSample = 10e3;  // ns
  constexpr double kQuickShare = 30e3;
  constexpr double kManySamples = 16;  // of a batch: with fewer there is little to save
  const Findings& f = c.findings();
  if (f.sample.empty() || f.fetch.empty()) return ruled_out("no samples were recorded");
  const double of_batch = static_cast<double>(f.sample.count()) / static_cast<double>(f.fetch.count());
  const double each = c.mean_fetch() / of_batch;
  if (of_batch < kManySamples || f.sample.mean() > kQuickSample || each > kQuickShare)
    return ruled_out(fmt::format("a sample takes {}, {} of them make a batch", human_time(f.sample.mean()),
                                 human_rate(of_batch)));
  Judgement out;
  if (c.trials()) {
    // Measured: whole batches take a tenth and less of the time that the same rows take one by one.
    Question question;
    question.fetch.factor = 0.1;
    const double gain = c.trials()->gain_of(question);
    out.holds = gain >= c.trials()->worthwhile();
    out.explains = saved_by(gain);
  } else {
    out.holds = c.waits();
    out.explains = c.waited_percent();
  }
  out.words = fmt::format("samples are fetched one by one, {} a batch, though each takes only {}",
                          human_rate(of_batch), human_time(f.sample.mean()));
  out.evidence = {{"mean time of a sample", f.sample.mean() / kNsPerMs, "ms"},
                  {"making a batch, for each sample", each / kNsPerMs, "ms"},
                  {"samples of a batch", of_batch}};
  return out;
}

namespace {

// Opened again often enough to be a habit: for every other batch, and 20 times.
bool is_habit(const ReopenedFinding& file, std::uint64_t batches) {
  constexpr std::uint64_t kFewestOpens = 20;
  return file.again() >= kFewestOpens && 2 * file.again() >= batches;
}

// Of the files that are opened again, the one that most was read of. It is the one that costs only if it is
// of the format that takes the time, and at least half of all that is read is of it: else the time may go to
// other files of the format, of which each is read once.
const ReopenedFinding* read_again(const Findings& findings) {
  constexpr double kLeastRead = 0.5;
  const ReopenedFinding* most = nullptr;
  for (const ReopenedFinding& file : findings.facts.reopened)
    if (is_habit(file, findings.fetch.count()) && (most == nullptr || file.bytes > most->bytes)) most = &file;
  const bool read = most != nullptr && most->bytes >= kLeastRead * findings.facts.read_in_fetches;
  return read && most->bytes > 0 ? most : nullptr;
}

}  // namespace

// A file is opened again and again, and opening and parsing files of its format takes a third of the CPU time
// in which batches are made. Replayed without that time.
Judgement judge_repeated(const Case& c) {
  const Findings& f = c.findings();
  const ReopenedFinding* file = read_again(f);
  if (file == nullptr) return ruled_out("no file that most is read of is opened again and again");
  const std::string opened =
      fmt::format("{} was opened {} times in {} process{}", escaped(file->path), human_count(file->opens),
                  file->processes, file->processes == 1 ? "" : "es");
  if (!file->cpu_share) return ruled_out(opened + ", but what that costs is not known");
  // Of the fetches' time: who computes waits for a core, too; the rest may be anything.
  const double computing = std::min(1.0, f.fetch_cpu_share().value_or(0) + c.core_wait_percent() / 100);
  const double share = *file->cpu_share * computing;
  Judgement out;
  if (c.trials()) {
    Question question;
    question.fetch.factor = 1 - std::min(0.99, share);
    const double gain = c.trials()->gain_of(question);
    out.holds = share >= kLeastShare && gain >= c.trials()->worthwhile();
    out.explains = saved_by(gain);
  } else {
    out.holds = c.waits() && share >= kLeastShare;
    out.explains = c.waited_percent() * share;
  }
  out.words = fmt::format("{}, and opening and parsing {} takes {} of the time in which a batch is made",
                          opened, file->format, human_percent(100 * share));
  out.evidence = {{"file", 0, "", escaped(file->path)},
                  {"opened", static_cast<double>(file->opens), "times"},
                  {"processes that opened it", static_cast<double>(file->processes)},
                  {"read from it", file->bytes, "bytes"},
                  {"opening and parsing " + file->format + ", of making a batch", 100 * share, "percent"}};
  return out;
}

}  // namespace lotus::analyzer
