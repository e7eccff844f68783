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

}  // namespace

void add_cut_short(const Trace& trace, const Stream& stream, Findings& findings) {
  const Process& process = *stream.process;
  if (!process.end || !tells(stream)) return;
  CutShort cut;
  cut.process = &process;
  cut.name = name_of(stream.stack.back());
  for (const OpenSpan& span : stream.stack) {
    if (span.kind == Kind::fetch) cut.batch = field<Kind::fetch, "batch">(span);
    if (span.kind == Kind::put) cut.batch = field<Kind::put, "batch">(span);
    if (span.kind == Kind::sample) cut.index = field<Kind::sample, "index">(span);
    if (span.kind == Kind::sample && span.has_path) cut.path = stream.sample_path;
  }
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
