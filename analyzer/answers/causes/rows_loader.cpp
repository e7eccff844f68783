#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "answers/causes/rows.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

std::string workers_text(std::uint64_t count) {
  return fmt::format("{} worker{}", count, count == 1 ? "" : "s");
}

std::string too_small(const char* change, double gain) {
  return fmt::format("{} gains {} in a replay: too little", change, human_percent(std::max(0.0, gain)));
}

std::string batch_and_step(const Case& c) {
  return fmt::format("a batch takes {} to make and {} to train on", human_time(c.mean_fetch()),
                     human_time(c.mean_step()));
}

}  // namespace

namespace {

// All iterators of loaders over one dataset with the same settings: scripts make both anew.
struct Iterators {
  double count = 0, unfinished = 0, batches = 0, made = 0, starting = 0, from = 0, until = 0;

  double batches_each() const { return count > 0 ? batches / count : 0; }
  double whole() const { return until - from; }
};

Iterators iterators_of(const Case& c) {
  Iterators sums;
  const Recording& worst = *c.recording();
  for (const Recording& r : c.findings().recordings) {
    const bool same = r.file == worst.file && r.pid == worst.pid &&
                      r.loader.dataset == worst.loader.dataset && r.loader.workers == worst.loader.workers &&
                      r.loader.batch_size == worst.loader.batch_size;
    if (!same || r.all_epochs == 0) continue;
    sums.from = sums.count > 0 ? std::min(sums.from, r.from) : r.from;
    sums.until = std::max(sums.until, r.until);
    sums.count += static_cast<double>(r.all_epochs);
    sums.unfinished += static_cast<double>(r.unfinished);
    sums.batches += static_cast<double>(r.batches);
    sums.made += static_cast<double>(r.made);
    sums.starting += r.starting;
  }
  return sums;
}

// Fewer iterators may be a few short epochs; a few batches each is what `next(iter(loader))` gives.
constexpr double kManyIterators = 5;
constexpr double kFewBatches = 3;

bool iterators_are_left(const Iterators& sums) {
  return sums.count >= kManyIterators && sums.batches_each() <= kFewBatches &&
         sums.unfinished >= 0.5 * sums.count && sums.whole() > 0;
}

// What a worker's start is made of, longest part first.
std::string start_phases(const StartsFinding& starts) {
  constexpr double kLeastTold = 0.1;           // of the start
  constexpr double kLeastWorthTelling = 10e6;  // ns
  if (starts.workers == 0) return {};
  const double executing = std::max(0.0, starts.process - starts.unpickling);
  const std::string handed = fmt::format("unpickling {}", human_bytes(starts.mean(starts.pickled_bytes)));
  std::vector<std::pair<double, std::string>> parts = {
      {starts.mean(starts.pickling), "pickling what it gets"},
      {starts.mean(executing), starts.executed > 0 ? "starting Python and imports" : "its fork"},
      {starts.mean(starts.unpickling), starts.pickled_bytes > 0 ? handed : "unpickling its dataset"},
      {starts.mean(starts.prepare), "worker_init_fn and iter() of its dataset"}};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const double whole = starts.mean(starts.pickling + starts.process + starts.prepare);
  if (whole < kLeastWorthTelling) return {};
  std::string text;
  for (const auto& [time, what] : parts)
    if (time >= kLeastTold * whole)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", what, human_time(time));
  return "a worker's start is " + text;
}

void add_start_evidence(std::vector<Evidence>& evidence, const StartsFinding& starts) {
  if (starts.workers == 0) return;
  const auto add = [&](const char* fact, double sum) {
    evidence.push_back({fact, starts.mean(sum) / kNsPerS, "s"});
  };
  add("a worker, from the fork or execution of its process to its loop", starts.process);
  if (starts.executed > 0) {
    add("of it, from the import of PyTorch on", starts.importing);
    add("of it, unpickling its dataset", starts.unpickling);
    add("pickling for a worker, by the process that starts it", starts.pickling);
    evidence.push_back({"pickled for a worker", starts.mean(starts.pickled_bytes), "bytes"});
  }
  add("a worker, from its loop until it could make batches (worker_init_fn, iter)", starts.prepare);
}

}  // namespace

// Workers are started for each epoch, and keeping them gains; or most of what training waits for lies before
// the first batch of an epoch.
Judgement judge_startup(const Case& c) {
  const Recording* recording = c.recording();
  if (recording == nullptr || recording->achieved.time <= 0)
    return ruled_out("when epochs began is not known");
  if (c.workers() == 0) return ruled_out("there are no workers to start");
  if (iterators_are_left(iterators_of(c))) return ruled_out("an iterator is made for each batch or two");
  const Trials* trials = c.trials();
  const double time = recording->achieved.time;
  const double making = static_cast<double>(recording->all_epochs) * c.mean_fetch();
  const double starting = trials ? trials->starting() / trials->replay().replayed().achieved.time
                                 : std::max(0.0, recording->starting - making) / time;
  Judgement out;
  const std::string first_op = trials ? escaped(trials->starting_op().name) : "";
  const double gain = trials ? trials->gain("persistent") : 0;
  // Without a replay: what training waits for later could not be more than this.
  const double waits_later = (recording->achieved.next - recording->starting) / time;
  // What one epoch pays once is little of a longer one: less than this says nothing about a training.
  constexpr double kLeastOnce = 0.5e9;  // ns
  const bool counts = recording->all_epochs > 1 || starting * time >= kLeastOnce;
  const bool dominates =
      counts && (trials ? trials->starting_dominates() : starting >= 0.15 && starting > waits_later);
  const bool kept =
      recording->loader.keeps_workers() && recording->all_epochs > 1;  // they start once, in any case
  out.holds = !kept && ((trials && trials->worthwhile("persistent")) || dominates);
  out.explains = std::max(saved_by(gain), dominates ? 100 * starting : 0);
  out.evidence = {{"until the first batch of an epoch, of the epochs", 100 * starting, "percent"},
                  {"epochs", static_cast<double>(recording->all_epochs)}};
  const StartsFinding& starts = c.findings().facts.starts;
  add_start_evidence(out.evidence, starts);
  const std::string phases = start_phases(starts);
  out.words = out.holds
                  ? fmt::format("starting workers takes {} of the epochs{}{}", human_percent(100 * starting),
                                first_op.empty() ? "" : ", also what each does once, " + first_op,
                                phases.empty() ? "" : ": " + phases)
                  : fmt::format("until the first batch of an epoch came, {} of the epochs passed",
                                human_percent(100 * starting));
  return out;
}

// One worker's batches take it 1.3 times as long as the others': see slowness_of() of the replay.
Judgement judge_slow_worker(const Case& c) {
  if (!c.trials()) return ruled_out("too few batches to compare workers");
  const auto slow = c.trials()->slow_worker();
  if (!slow) return ruled_out("no worker is clearly slower than the others");
  const double factor = c.recording()->slowness[*slow];
  Judgement out;
  out.holds = c.trials()->worthwhile("slow_worker");
  out.explains = saved_by(c.trials()->gain("slow_worker"));
  out.words =
      fmt::format("worker {} is slow: a batch takes it {:.1f} times as long as the others", *slow, factor);
  out.evidence = {{fmt::format("a batch of worker {}, of one of the others", *slow), factor, "times"}};
  return out;
}

// Batches come in such an order that a longer queue, or none, gains. Without a replay: enough workers on
// average, and training waits all the same.
Judgement judge_uneven(const Case& c) {
  if (c.workers() == 0) return ruled_out("there are no workers, and so no queue");
  Judgement out;
  out.general = true;
  if (c.trials()) {
    const double gain = std::max(c.trials()->gain("prefetch"), c.trials()->gain("in_order"));
    out.holds = gain >= c.trials()->worthwhile();
    out.explains = saved_by(gain);
    out.words =
        out.holds ? "batches come unevenly" : too_small("a longer queue, or one without order,", gain);
    out.evidence = {{"gain of a longer queue or of one without order", gain, "percent"}};
    return out;
  }
  const auto needed = c.needed_workers();
  if (!needed || *needed > c.workers() || !c.waits()) return ruled_out("batches are not enough on average");
  const Series& fetch = c.loader()->fetch;
  const double ratio = fetch.quantile(0.99) / std::max(1.0, fetch.quantile(0.5));
  out.holds = true;
  out.explains = c.waited_percent();
  out.words = fmt::format(
      "{} {} enough on average, batches come unevenly (the slowest 1 % take {:.1f} times the median)",
      workers_text(c.workers()), c.workers() == 1 ? "is" : "are", ratio);
  out.evidence = {{"the slowest 1 % of batches, of the median", ratio, "times"}};
  return out;
}

namespace {

Judgement judge_workers_by_times(const Case& c) {
  const auto needed = c.needed_workers();
  const std::uint64_t present = c.workers();
  if (!needed) return ruled_out("too few batches were trained on to say whether more workers would help");
  const std::uint64_t most = std::max<std::uint64_t>(1, c.servable_workers());
  const std::uint64_t useful = std::min(*needed, most);
  const std::string cores =
      fmt::format("the {} core{} of this machine", c.findings().cores, c.findings().cores == 1 ? "" : "s");
  if (present > 0 && *needed <= present)
    return ruled_out(fmt::format("{} are enough on average: {}", workers_text(present), batch_and_step(c)));
  if (present > 0 && present >= most)
    return ruled_out(fmt::format("{} already fill {}", workers_text(present), cores));
  Judgement out;
  out.general = present > 0;
  out.holds = c.waits();
  // So many workers make batches that many times as quickly; training cannot wait less than not at all.
  const auto before = static_cast<double>(std::max<std::uint64_t>(1, present));
  const auto after = static_cast<double>(useful + (present == 0 ? 1 : 0));
  out.explains = std::min(c.waited_percent(), 100 * (1 - before / after));
  const std::string enough = useful < *needed ? fmt::format("would fill {}", cores) : "would keep up";
  out.words = fmt::format("{}: {}, so {} instead of {} {}",
                          present == 0 ? "the training process makes its batches itself"
                                       : fmt::format("too few workers ({})", present),
                          batch_and_step(c), workers_text(useful), present, enough);
  return out;
}

}  // namespace

// More workers gain, by replay. Without a replay: a batch takes longer to make than all workers have time
// for, and the cores serve more of them.
Judgement judge_workers(const Case& c) {
  if (!c.settings_known())
    return ruled_out(
        "whether more workers would help is unknown: the loader's settings are missing from the trace");
  Judgement out;
  const std::uint64_t present = c.workers();
  if (c.trials()) {
    const double gain = c.trials()->gain("workers");
    out.general = present > 0;
    out.holds = gain >= c.trials()->worthwhile();
    out.explains = saved_by(gain);
    if (!out.holds)
      out.words = c.trials()->find("workers") == nullptr ? "the cores are taken: fetches wait for them"
                                                         : too_small("more workers", gain);
    else
      out.words = present == 0 ? "the training process makes its batches itself"
                               : fmt::format("too few workers ({})", present);
  } else {
    out = judge_workers_by_times(c);
  }
  out.evidence = {{"workers", static_cast<double>(present)},
                  {"cores", static_cast<double>(c.findings().cores)},
                  {"mean time to make a batch", c.mean_fetch() / kNsPerMs, "ms"},
                  {"mean time to train on it", c.mean_step() / kNsPerMs, "ms"}};
  return out;
}

namespace {

// How much of receiving a batch other batches would save. Most have an image and a label: of that many
// tensors, and nothing else, it takes what it takes on this machine.
double avoidable_share(const Findings& findings) {
  constexpr double kFewTensors = 2;
  constexpr double kPickledTensor = 1024;  // bytes; about 350, and its key
  const double batches = static_cast<double>(findings.serialize.count());
  const double tensors = findings.storages.value_or(0);
  const bool has_more = findings.bytes - findings.storage_bytes > kPickledTensor * tensors;
  return tensors <= 0 || has_more ? 1 : 1 - std::min(1.0, kFewTensors * batches / tensors);
}

}  // namespace

// Batches that go through shared memory instead of the pipe gain, or batches that are received at no cost.
// What getting any batch from a queue costs (kAnyBatch) is no cause. Where threads wait for cores, so does
// the one that receives, and what it takes says nothing about the batch.
Judgement judge_transfer(const Case& c) {
  constexpr double kAnyBatch = 2e6;     // ns
  constexpr double kFastestPipe = 2e9;  // bytes/s; 0.4e9 on the machine of docs/accuracy.md
  if (!c.trials()) return ruled_out("too few batches to tell what moving them costs");
  const double pipe = c.trials()->mean_of(&RecordedBatch::pipe);
  const double receive = c.trials()->mean_of(&RecordedBatch::receive);
  const bool piped = c.trials()->through_pipe();
  const double avoidable = piped ? 1 : avoidable_share(c.findings());
  const double gain = avoidable * c.trials()->gain("transfer");
  const double bytes = c.findings().serialize.empty()
                           ? 0
                           : c.findings().bytes / static_cast<double>(c.findings().serialize.count());
  // Handles of tensors wait for a core, too: what would have been written faster than pipes are, is not in
  // them.
  const bool in_memory = piped && bytes > kFastestPipe * pipe / kNsPerS;
  if ((!piped || in_memory) && c.core_wait_percent() >= kCoresShortPercent)
    return ruled_out(
        "the machine is busy, so what receiving a batch takes cannot be told from waiting for a core");
  // A few that take very long are a machine that stood still, or a worker that did not answer.
  const bool many = c.trials()->of_a_quarter(&RecordedBatch::receive) >= std::max(kAnyBatch, receive / 2);
  Judgement out;
  out.holds = gain >= c.trials()->worthwhile() && (piped || many);
  out.explains = saved_by(gain);
  if (!out.holds)
    out.words = fmt::format("a batch takes {} to write to the pipe and {} to receive{}", human_time(pipe),
                            human_time(receive), avoidable > 0 ? "" : ": it is one tensor, or two");
  else if (piped)
    out.words =
        fmt::format("batches of {} are pickled and written to a pipe, one worker at a time, for {} each",
                    human_bytes(bytes), human_time(pipe));
  else
    out.words = fmt::format("receiving a batch takes training {}, which fewer and smaller tensors would save",
                            human_time(receive));
  out.evidence = {{"writing a batch to the pipe", pipe / kNsPerMs, "ms"},
                  {"receiving a batch", receive / kNsPerMs, "ms"},
                  {"bytes of a batch", bytes, "bytes"}};
  return out;
}

// Many iterators are left after a batch or two, and starting them takes a tenth of training's time.
Judgement judge_iterators(const Case& c) {
  constexpr double kLeastStarting = 10;  // percent
  if (c.recording() == nullptr) return ruled_out("the loader's iterators are not known");
  const Iterators sums = iterators_of(c);
  if (!iterators_are_left(sums))
    return ruled_out(fmt::format("an iterator gave {} batches, on average", human_rate(sums.batches_each())));
  Judgement out;
  out.explains = std::min(100.0, 100 * sums.starting / sums.whole());
  out.holds = out.explains >= kLeastStarting;
  out.words = fmt::format(
      "{:.0f} iterators were made, and {} {} taken from each: starting them takes {} of {}", sums.count,
      sums.batches_each() < 1.5 ? "one batch" : human_rate(sums.batches_each()) + " batches",
      sums.batches_each() < 1.5 ? "was" : "were", human_time(sums.starting), human_time(sums.whole()));
  out.evidence = {
      {"iterators", sums.count},
      {"batches taken from each", sums.batches_each()},
      {"batches made, for each that was taken", sums.batches > 0 ? sums.made / sums.batches : 0},
      {"from the start of an iterator to its first batch, all of them", sums.starting / kNsPerS, "s"}};
  return out;
}

namespace {

// `the sampler (WeightedRandomSampler)`
std::string the_sampler(const Case& c) {
  const LoaderFinding* loader = c.loader();
  const bool known = loader != nullptr && loader->loader && !loader->loader->sampler.empty();
  return known ? fmt::format("the sampler ({})", escaped(loader->loader->sampler)) : "the sampler";
}

// The index iterator's own time.
Judgement judge_recorded_sampler(const Case& c, const SamplerFinding& sampler) {
  constexpr double kLeastExplained = 15;  // percent
  Judgement out;
  out.explains = sampler.share_percent().value_or(0);
  out.holds = out.explains >= kLeastExplained;
  out.words = out.holds
                  ? fmt::format("{} works in training's own process for {}, {} of the time of its loops",
                                the_sampler(c), human_time(sampler.total()), human_percent(out.explains))
                  : fmt::format("the sampler takes {} of training's loops", human_percent(out.explains));
  if (out.holds && sampler.first > sampler.later)
    out.words += fmt::format(", {} of it at the starts of epochs", human_time(sampler.first));
  out.evidence = {{"sampler, of training's loops", out.explains, "percent"},
                  {"sampler, before the first batches of epochs", sampler.first / kNsPerS, "s"},
                  {"sampler, for later batches", sampler.later / kNsPerS, "s"},
                  {"batches were made", static_cast<double>(c.findings().fetch.count())}};
  return out;
}

}  // namespace

// The sampler works in training's process. Older traces do not tell: training's own process works in
// __next__, beside receiving: the sampler draws indices there. Replayed with a sampler that takes no time.
// Less than kAnyBatch is what PyTorch's own code takes.
Judgement judge_sampler(const Case& c) {
  constexpr double kLeastExplained = 15;  // percent; what is less may be caches that a step has emptied
  constexpr double kAnyBatch = 1e6;       // ns
  if (c.findings().facts.sampler.calls > 0) return judge_recorded_sampler(c, c.findings().facts.sampler);
  if (!c.trials()) return ruled_out("too few batches to tell");
  const double own = c.recording()->overheads.own;
  const double gain = c.trials()->gain("sampler");
  Judgement out;
  out.explains = saved_by(gain);
  out.holds = gain >= c.trials()->worthwhile() && own >= kAnyBatch && out.explains >= kLeastExplained;
  out.words = out.holds ? fmt::format("{} works in training's own process, for {} a batch", the_sampler(c),
                                      human_time(own))
                        : fmt::format("__next__ itself takes {} a batch, beside waiting", human_time(own));
  out.evidence = {{"__next__ itself, beside waiting, a batch", own / kNsPerMs, "ms"}};
  return out;
}

namespace {

// Percent of training's time that would not have passed if its steps were shorter by this share. Steps that
// are shorter wait longer where batches come no sooner.
double saved_by_shorter_steps(const Case& c, double share) {
  if (!c.trials()) return c.waits() && c.workers() > 0 ? 0 : 100;
  Question shorter;
  shorter.step.factor = 1 - share;
  return saved_by(c.trials()->gain_of(shorter));
}

}  // namespace

// The training loop calls functions of the dataset: len(dataset) that counts files, a property that reads
// one. A tenth of training's time or more, inside its steps.
Judgement judge_dataset_in_step(const Case& c) {
  constexpr double kLeastPercent = 10;
  const auto& calls = c.findings().facts.dataset_calls;
  if (calls.empty()) return ruled_out("training steps called nothing of the dataset that took 100 µs");
  const double time = std::max(c.training_time(), c.findings().loop);
  const double steps = c.findings().train_step.sum();
  if (time <= 0 || steps <= 0) return ruled_out("how long training took is not known");
  const double total = c.findings().facts.in_steps();
  const double percent = 100 * std::min(1.0, total / time);
  Judgement out;
  out.explains = percent < kLeastPercent
                     ? percent
                     : std::min(percent, saved_by_shorter_steps(c, std::min(1.0, total / steps)));
  out.holds = out.explains >= kLeastPercent;
  const DatasetCall& longest = calls.front();
  out.words =
      fmt::format("training steps call {} of the dataset {} times, which takes {}, {} of training's time",
                  escaped(longest.name), human_count(longest.calls), human_time(longest.total),
                  human_percent(std::min(100.0, 100 * longest.total / time)));
  out.evidence = {{"the dataset's functions in training steps", total / kNsPerS, "s"},
                  {"of training's time", percent, "percent"},
                  {"of the steps", 100 * std::min(1.0, total / steps), "percent"}};
  for (const DatasetCall& call : calls)
    out.evidence.push_back(
        {escaped(call.name) + ", calls of 100 µs and more", static_cast<double>(call.calls)});
  return out;
}

// A fifth of the workers or more make no batch, or hardly any: a tenth of what the others make at most. So it
// is where an iterable dataset has fewer parts than workers, or an epoch fewer batches.
Judgement judge_idle_workers(const Case& c) {
  constexpr double kHardlyAny = 0.1;
  constexpr double kLeastIdle = 0.2;
  if (c.recording() == nullptr || c.workers() < 2) return ruled_out("there are not several workers");
  const Recording& recording = *c.recording();
  if (!recording.seen()) return ruled_out("which worker made which batch is not known");
  std::vector<double> made(c.workers(), 0);
  bool finished = false;
  for (const auto& epoch : recording.epochs) {
    finished = finished || epoch.finished;
    for (const auto& batch : epoch.batches)
      if (batch.worker < made.size()) ++made[batch.worker];
  }
  const double most = *std::max_element(made.begin(), made.end());
  const auto idle = static_cast<double>(
      std::count_if(made.begin(), made.end(), [&](double count) { return count <= kHardlyAny * most; }));
  const auto all = static_cast<double>(made.size());
  if (!finished || idle < kLeastIdle * all)
    return ruled_out(finished ? "all workers make batches" : "no epoch was recorded to its end");
  const double active = all - idle;
  const double useful = std::min(all, static_cast<double>(c.servable_workers()));
  Judgement out;
  out.holds = c.waits() && useful > active;
  out.explains = useful > active ? std::min(c.waited_percent(), 100 * (1 - active / useful)) : 0;
  out.words = fmt::format("{:.0f} of {:.0f} workers make {} batches", idle, all,
                          *std::min_element(made.begin(), made.end()) > 0 ? "hardly any" : "no");
  if (!out.holds) out.words += c.waits() ? ", but the others fill the cores" : ", but training hardly waits";
  out.evidence = {{"workers", all}, {"of them, make no or hardly any batch", idle}};
  return out;
}

}  // namespace lotus::analyzer
