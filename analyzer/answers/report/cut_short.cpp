#include "answers/report/cut_short.hpp"

namespace lotus::analyzer {
namespace {

// Describes the innermost open span in terms that users of PyTorch know.
std::string name_of(const OpenSpan& span) {
  switch (span.kind) {
    case Kind::op:
      return span.op->name;
    case Kind::sample:
    case Kind::samples:
      return "the dataset's own code";
    case Kind::fetch:
      return "making a batch";
    case Kind::put:
      return "handing on a batch";
    case Kind::start_workers:
      return "starting workers";
    case Kind::indices:
      return "the sampler";
    case Kind::deserialize:
    case Kind::consume:
      return "taking over a batch";
    default:
      return "waiting for a batch";
  }
}

bool tells(const Stream& stream) {
  const Kind outermost = stream.stack.front().kind;
  if (outermost == Kind::worker_loop) return stream.stack.size() > 1;
  return outermost == Kind::fetch || outermost == Kind::next || outermost == Kind::start_workers;
}

constexpr double kStuckNs = 5e9;  // what takes longer may well hang

void describe(const Stream& stream, Unfinished& work) {
  work.process = stream.process;
  work.name = name_of(stream.stack.back());
  for (const OpenSpan& span : stream.stack) {
    if (span.kind == Kind::fetch) work.batch = field<Kind::fetch, "batch">(span);
    if (span.kind == Kind::put) work.batch = field<Kind::put, "batch">(span);
    if (span.kind == Kind::sample) work.index = field<Kind::sample, "index">(span);
    if (span.kind == Kind::sample && span.has_path) work.path = stream.sample_path;
  }
}

}  // namespace

void add_stuck(const Trace& trace, const Stream& stream, Findings& findings) {
  if (stream.process->end || stream.seen == 0 || !tells(stream)) return;
  Stuck stuck;
  describe(stream, stuck);
  // Training looks after its workers while it waits, so what is inside of its wait is begun again and again.
  const bool waits = stream.stack.front().kind == Kind::next;
  const std::uint64_t start = (waits ? stream.stack.front() : stream.stack.back()).start;
  stuck.at_least = static_cast<double>(trace.clock.between(start, stream.seen));
  stuck.seen = trace.clock.ns(stream.seen);
  stuck.frames = stream.standing;
  stuck.unreadable = stream.unreadable;
  if (stuck.at_least >= kStuckNs) findings.stuck.push_back(std::move(stuck));
}

void add_cut_short(const Trace& trace, const Stream& stream, Findings& findings) {
  const Process& process = *stream.process;
  if (!process.end || !tells(stream)) return;
  CutShort cut;
  describe(stream, cut);
  cut.at_most = static_cast<double>(trace.clock.between(stream.stack.back().start, process.end->seen.ticks));
  findings.cut_short.push_back(std::move(cut));
}

CutShort killed_training(const Trace& trace, const Process& process, const Iteration& last,
                         std::optional<std::uint64_t> batch) {
  CutShort cut;
  cut.process = &process;
  cut.name = last.stepping ? "the training step" : "code outside its loaders' loops";
  if (last.stepping) cut.batch = batch;
  cut.at_most = static_cast<double>(trace.clock.between(last.last, process.end->seen.ticks));
  return cut;
}

}  // namespace lotus::analyzer
