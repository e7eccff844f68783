#include "answers/report/process_use.hpp"

#include <algorithm>

namespace lotus::analyzer {
namespace {

std::pair<const Process*, std::uint64_t> iterator_of(const Span& fetch) {
  const Process& process = *fetch.stream.process;
  if (process.worker_of) return {process.worker_of->training, process.worker_of->iterator};
  return {&process, field<Kind::fetch, "iterator">(fetch.data)};
}

}  // namespace

bool is_of_later_epoch(const Span& fetch) {
  const auto [training, iterator] = iterator_of(fetch);
  return training->epoch_number_of(iterator, field<Kind::fetch, "reset">(fetch.data)) > 0;
}

void ProcessUseCollector::on_fetch(const Span& span, double ns) {
  Use& use = uses_[span.stream.process];
  ++use.batches;
  use.fetch_ns += ns;
  use.later_epoch = is_of_later_epoch(span);
  use.iterator = iterator_of(span);
  const OpenSpan& data = span.data;
  if (!data.has_cpu || data.process_cpu_before == kUnknown) return;
  if (data.process_cpu_after <= data.process_cpu_before) return;  // the second look is missing
  threads_.fetch_wall += ns;
  threads_.fetch_cpu += static_cast<double>(data.cpu_ns);
  threads_.process_cpu += static_cast<double>(data.process_cpu_after - data.process_cpu_before);
}

// A worker's counters begin with it; those of a training process have counted the program's start.
void ProcessUseCollector::add_faults(const Stream& stream, const Record& record, Use& use) {
  const std::uint64_t minor = field<Kind::faults, "minor">(record);
  if (minor == 0) return;  // nobody counts here, as in some sandboxes
  const std::uint64_t read = field<Kind::faults, "read">(record);
  if (!use.has_faults) {
    use.has_faults = true;
    use.first_minor = minor;
    use.first_major = field<Kind::faults, "major">(record);
    use.faults_batches = use.batches;
    use.read = stream.process->worker_of ? 0 : read;
  }
  const double more = read > use.read ? static_cast<double>(read - use.read) : 0;
  (use.later_epoch ? use.read_later : use.read_first) += more;
  if (use.iterator.first != nullptr) {
    Reads& reads = reads_[use.iterator];
    (use.later_epoch ? reads.later : reads.first) += more;
  }
  use.read = read;
  use.minor = minor;
  use.major = field<Kind::faults, "major">(record);
  use.batches_between = use.batches - use.faults_batches;
}

void ProcessUseCollector::add_interpreter_lock(const Record& record, const ClockMap& clock, Use& use) {
  use.lock_last = static_cast<double>(clock.duration_ns(field<Kind::interpreter_lock, "ticks">(record)));
  if (use.has_lock) return;
  use.has_lock = true;
  use.lock_first = use.lock_last;
  use.lock_fetch_first = use.fetch_ns;
}

void ProcessUseCollector::add_footprint(const Record& record, Use& use) {
  const std::uint64_t threads = field<Kind::footprint, "threads">(record);
  if (threads != kUnknown) use.threads = std::max(use.threads, threads);
  const std::uint64_t bytes = field<Kind::footprint, "private">(record);
  if (bytes == kUnknown) return;
  use.memory_last = static_cast<double>(bytes);
  use.resident_last = static_cast<double>(field<Kind::footprint, "resident">(record));
  if (!use.has_memory) {
    use.has_memory = true;
    use.memory_first = use.memory_last;
    use.resident_first = use.resident_last;
    use.memory_batches = use.batches;
  }
  use.memory_between = use.batches - use.memory_batches;
}

// A thread may forget a file and count it anew: the most that it told is what is known.
void ProcessUseCollector::add_opened(const Stream& stream, const Record& record, Use& use) {
  constexpr std::size_t kMostFiles = 1024;  // more is damage
  const std::pair key(stream.number, std::string(field<Kind::reopened, "path">(record)));
  if (use.opened.size() >= kMostFiles && !use.opened.contains(key)) return;
  Opened& opened = use.opened[key];
  opened.opens = std::max(opened.opens, field<Kind::reopened, "opens">(record));
  opened.bytes = std::max(opened.bytes, field<Kind::reopened, "bytes">(record));
}

void ProcessUseCollector::on_point(const Stream& stream, const Record& record, const ClockMap& clock) {
  switch (record.kind) {
    case Kind::faults:
      return add_faults(stream, record, uses_[stream.process]);
    case Kind::footprint:
      return add_footprint(record, uses_[stream.process]);
    case Kind::interpreter_lock:
      return add_interpreter_lock(record, clock, uses_[stream.process]);
    case Kind::reopened:
      return add_opened(stream, record, uses_[stream.process]);
    case Kind::collections: {
      Use& use = uses_[stream.process];
      use.old_last = field<Kind::collections, "old">(record);
      if (!use.has_garbage) use.old_first = use.old_last;
      use.has_garbage = true;
      return;
    }
    default:
      return;
  }
}

std::vector<ReopenedFinding> ProcessUseCollector::take_reopened() {
  constexpr std::size_t kMostTold = 8;
  std::vector<ReopenedFinding> files;
  for (auto& [path, file] : reopened_) {
    file.path = path;
    files.push_back(std::move(file));
  }
  reopened_.clear();
  std::stable_sort(files.begin(), files.end(),
                   [](const auto& a, const auto& b) { return a.again() > b.again(); });
  if (files.size() > kMostTold) files.resize(kMostTold);
  return files;
}

void ProcessUseCollector::fold(Facts& facts) {
  for (const auto& [process, use] : uses_) {
    facts.threads.most = std::max(facts.threads.most, use.threads);
    if (use.has_faults) {
      FaultsFinding& faults = facts.faults;
      faults.known = true;
      faults.minor += use.minor - std::min(use.minor, use.first_minor);
      faults.major += use.major - std::min(use.major, use.first_major);
      faults.batches += use.batches_between;
      faults.read_first += use.read_first;
      faults.read_later += use.read_later;
    }
    if (use.has_garbage) {
      facts.garbage.known = true;
      facts.garbage.old += use.old_last - std::min(use.old_last, use.old_first);
      facts.garbage.batches += use.batches;
    }
    if (use.has_lock) {
      facts.interpreter_lock.known = true;
      facts.interpreter_lock.waited += use.lock_last - use.lock_first;
      facts.interpreter_lock.sending += use.serialize_ns;
      // To the last batch: no record is made where nobody waited.
      facts.interpreter_lock.fetch_wall += use.fetch_ns - use.lock_fetch_first;
    }
    for (const auto& [key, opened] : use.opened) {
      ReopenedFinding& file = reopened_[key.second];
      file.opens += opened.opens;
      file.bytes += static_cast<double>(opened.bytes);
      ++file.processes;
    }
    constexpr double kPageBytes = 4096;
    const MemoryFinding memory{
        process->pid,
        use.memory_first,
        use.memory_last,
        use.resident_first,
        use.resident_last - use.resident_first,
        use.memory_between,
        use.has_faults ? kPageBytes * static_cast<double>(use.minor) : use.memory_last};
    const bool most = facts.memory.pid == 0 || memory.copied() > facts.memory.copied();
    if (use.memory_between > 0 && most) facts.memory = memory;
  }
  facts.threads.fetch_wall += threads_.fetch_wall;
  facts.threads.fetch_cpu += threads_.fetch_cpu;
  facts.threads.process_cpu += threads_.process_cpu;
  threads_ = {};
  uses_.clear();
  reads_.clear();
}

}  // namespace lotus::analyzer
