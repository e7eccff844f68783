#include "made_trace.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "answers/report/collector.hpp"
#include "reading/model/model.hpp"

namespace lotus::analyzer::test {

std::string temporary_place() {
  const char* const place = std::getenv("TMPDIR");
  return place != nullptr && *place == '/' ? place : "/tmp";
}

TemporaryFile::TemporaryFile(const Bytes& bytes, const std::string& suffix) {
  path_ = temporary_place() + "/lotus-analyzer-test-XXXXXX" + suffix;
  const int descriptor = ::mkstemps(path_.data(), static_cast<int>(suffix.size()));
  if (descriptor < 0) throw std::runtime_error("no temporary file: " + path_);
  const auto written = ::write(descriptor, bytes.data(), bytes.size());
  ::close(descriptor);
  if (written != static_cast<ssize_t>(bytes.size())) throw std::runtime_error("cannot write " + path_);
}

TemporaryFile::~TemporaryFile() { ::unlink(path_.c_str()); }

MadeTrace::MadeTrace() : TraceWriter(pair_at(0)) {
  process(++processes_, 100, 1, pair_at(0));
  define<Kind::process>(1, at(0), 100, 1, "3.11.2", "train.py", "python3 train.py", "/home/user", "machine",
                        8, 40'000, "2.6.0");
  define<Kind::architecture>(1, at(0), "x86_64");
  define<Kind::thread>(1, at(0), 1, 100, "python3");
}

void MadeTrace::loader(std::uint64_t id, std::uint64_t workers, bool persistent) {
  define<Kind::loader>(1, at(0), id, workers, 2, 4, 0, persistent ? 1 : 0, 1, "ImageFolder", 100,
                       "RandomSampler");
}

void MadeTrace::iterator(std::uint64_t id, std::uint64_t loader) {
  define<Kind::iterator>(1, at(0), id, loader);
}

std::uint32_t MadeTrace::worker(std::uint64_t iterator, std::uint64_t id, double born) {
  const std::uint32_t number = ++processes_;
  const std::uint32_t pid = 99 + number;
  process(number, pid, 100, pair_at(born));
  define<Kind::worker_link>(1, at(born), iterator, id, pid);
  define<Kind::thread>(number, at(born), 1, pid, "python3");
  return number;
}

void MadeTrace::op(std::uint32_t process, std::uint64_t id, OpRole role, const std::string& name) {
  define<Kind::op_def>(process, at(1), id, static_cast<std::uint64_t>(role), name, "module." + name, "ops.py",
                       7);
}

void MadeTrace::close(double ms) {
  for (std::uint32_t number = 1; number <= processes_; ++number) {
    ProcessEndFrame end{};
    end.seen = pair_at(ms);
    process_end(number, end);
  }
  trailer(pair_at(ms));
}

void get(ThreadWriter& thread, double from, double to, std::uint64_t iterator, std::uint64_t reset,
         std::uint64_t batch, std::uint64_t expected) {
  thread.record<Kind::get>(at(from), iterator, reset);
  thread.record<Kind::receive>(at(from), iterator);
  thread.record<Kind::leave>(at(to));
  thread.record<Kind::received>(at(to), iterator, reset, batch, expected, 2);
  thread.record<Kind::leave>(at(to));
}

double length(const Interval& interval) { return static_cast<double>(interval.ticks()) / 1e6; }
double instant(std::uint64_t ticks) {
  return static_cast<double>(static_cast<std::int64_t>(ticks - kStart)) / 1e6;
}

void Seen::on_span(const Span& span) {
  const bool is_op = span.kind() == Kind::op;
  spans.push_back({span.kind(), instant(span.data.start), static_cast<double>(span.ticks()) / 1e6, span.ended,
                   span.depth, is_op ? span.data.op->name : "",
                   span.data.has_path ? span.stream.sample_path : "", span.data.samples, span.data.gapped});
}

const Batch* Seen::batch(std::uint64_t iterator, std::uint64_t reset, std::uint64_t number) const {
  for (const auto& batch : batches)
    if (batch.key.iterator == iterator && batch.key.reset == reset && batch.key.batch == number)
      return &batch;
  return nullptr;
}

Reading show(Trace& trace, Visitor& visitor) { return Model(trace, visitor).run(); }

Findings findings_of(Trace& trace) {
  FindingsCollector collector;
  collector.begin(trace);
  collector.end(show(trace, collector));
  return collector.take();
}

}  // namespace lotus::analyzer::test
