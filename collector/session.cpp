#include "session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <lotus/schema_text.hpp>

#include "clock.hpp"
#include "names/debuginfod.hpp"
#include "text.hpp"
#include "trace_start.hpp"

namespace lotus::collector {
namespace {

constexpr std::uint64_t kQuietBeforeEnd = 300 * kMillisecond;
constexpr std::uint64_t kLastMoment = kSecond;  // for the other processes to end, if one waits for the trace
constexpr std::uint64_t kClockInterval = 10 * kSecond;
constexpr std::uint64_t kRetryInterval = kSecond;
constexpr std::uint64_t kNamingInterval = 30 * kSecond;
constexpr std::uint64_t kNamingPatience = 30 * kSecond;  // longest wait for calm rings
constexpr std::uint64_t kNamingRest = 4000;              // pause after naming, in multiples of its duration
constexpr std::uint64_t kNamingSlice = 20 * kMillisecond;

const char* remedy(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space there, or set LOTUS_OUTPUT to another disk";
    case ENOENT:
    case ENOTDIR:
      return "make that directory, or set LOTUS_OUTPUT";
    case EFBIG:
      return "raise the limit of file sizes (ulimit -f), or set LOTUS_OUTPUT to another disk";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    default:
      return "set LOTUS_OUTPUT to a path that can be written";
  }
}

bool same_process(const ProcessFrame& frame, const SegmentHeader& header) {
  return frame.pid == header.pid && frame.start_time == header.start_time &&
         frame.created.ticks == header.created.ticks &&
         frame.created.realtime_ns == header.created.realtime_ns;
}

}  // namespace

SessionId session_of(const SegmentHeader& header) { return {header.session_pid, header.session_start_time}; }

Session::Session(const SegmentHeader& first, std::string fallback_directory, Packer& packer, Log& log)
    : output_(static_cast<const char*>(first.output)),
      fallback_directory_(std::move(fallback_directory)),
      packer_(packer),
      log_(log),
      identity_(make_file_header(first)) {}

bool Session::fits(const SegmentHeader& header) const {
  return header.clock_source == identity_.clock_source && header.tick_shift == identity_.tick_shift;
}

void Session::add(std::unique_ptr<TracedProcess> process, std::uint64_t now_ns) {
  if (next_naming_ns_ == 0) next_naming_ns_ = now_ns + kNamingInterval;
  // A process before those that it forked: these refer to what it defined.
  const auto created = [](const std::unique_ptr<TracedProcess>& one) {
    return one->segment().header().created.ticks;
  };
  const auto place =
      std::upper_bound(processes_.begin(), processes_.end(), created(process),
                       [&](std::uint64_t ticks, const auto& one) { return ticks < created(one); });
  processes_.insert(place, std::move(process));
  last_change_ns_ = now_ns;
}

Filling Session::visit(std::uint64_t now_ns, bool insist) {
  for (const auto& process : processes_) process->segment().beat(now_ns);
  if (processes_.empty() || (now_ns < retry_at_ns_ && !insist)) return {};
  if (!file_ && !open(now_ns, insist)) return {};
  if (now_ns >= next_clock_ns_ && !write_clock(now_ns)) return {};
  if (waiting_ != 0 && now_ns - last_change_ns_ >= kLastMoment) let_go();
  Filling filling;
  for (auto& process : processes_) {
    if (!visit_process(process, now_ns, insist, filling)) break;
    failing_since_ns_ = retry_at_ns_ = 0;
  }
  std::erase(processes_, nullptr);
  return filling;
}

bool Session::open(std::uint64_t now_ns, bool insist) {
  int error = 0;
  if (open_at(output_, error)) return true;
  failed(error, output_, now_ns);
  // Only as a last resort, or for ended processes: their rings fill no further, but they take memory.
  if (!insist && !all_dead()) return false;
  const std::string elsewhere = fallback_directory_ + output_.substr(output_.rfind('/'));
  if (elsewhere == output_) return false;
  if (!open_at(elsewhere, error)) return failed(error, elsewhere, now_ns);
  log_.error("{} could not be written: the trace is {}", printable(output_), printable(file_->path()));
  return true;
}

bool Session::open_at(const std::string& path, int& error) {
  OpenedOutput opened = open_output(path, identity_, log_);
  error = opened.error;
  if (!opened.file) return false;
  file_ = std::move(opened.file);
  if (!opened.continued && !start_file()) {
    error = errno;
    file_->remove_if_empty();
    file_.reset();
    return false;
  }
  if (opened.continued) {
    restore_stacks(opened.continued->own_definitions);
    earlier_ = std::move(opened.continued->processes);
    restore_ended();
  }
  numbers_given_ = earlier_.empty() ? 0 : earlier_.rbegin()->first;
  for (const auto& [number, process] : earlier_) lost_by_ended_ += process.lost_events;
  next_clock_ns_ = 0;
  return true;
}

void Session::restore_stacks(const std::vector<DefinitionBody>& definitions) {
  Record record;
  for (const DefinitionBody& body : definitions) {
    const std::uint8_t* at = body.bytes.data();
    const std::uint8_t* const end = at + body.bytes.size();
    while ((at = decode(at, end, record)) != nullptr) stacks_.store.restore(record);
  }
}

// Processes that live on may refer to what ended ones defined.
void Session::restore_ended() {
  for (auto& [number, process] : earlier_) {
    if (!process.ended) continue;
    ProcessStacks ended(stacks_, process.frame.pid, process.frame.created.ticks);
    for (const DefinitionBody& body : process.definitions) ended.define(body.bytes, body.base_ticks);
    process.definitions.clear();
  }
}

bool Session::start_file() {
  file_->add_packed(frame_header(FrameType::schema, 0),
                    {reinterpret_cast<const std::uint8_t*>(kSchemaText.data()), kSchemaText.size()}, packer_);
  return file_->write_batch();
}

bool Session::write_clock(std::uint64_t now_ns) {
  const ClockPair pair = read_clock_pair(identity_.clock_source, identity_.tick_shift);
  FrameHeader header = frame_header(FrameType::clock, 0);
  header.base_ticks = pair.ticks;
  file_->add_raw(header, bytes_of(pair));
  if (!file_->write_batch()) return failed(errno, path(), now_ns);
  next_clock_ns_ = now_ns + kClockInterval;
  if (!said_deleted_ && file_->deleted()) {
    said_deleted_ = true;
    log_.error("{} was deleted while it is being written; its trace will be gone", printable(path()));
  }
  return true;
}

bool Session::visit_process(std::unique_ptr<TracedProcess>& process, std::uint64_t now_ns, bool all,
                            Filling& filling) {
  if (process->number() == 0) number(*process);
  const bool dead = process->dead();  // determined first: a dead process adds nothing after this
  bool done = dead;
  if (!process->written_before()) {
    filling.take_most(process->gather(*file_, packer_, now_ns, all));
    done = dead && !process->more_to_unwind();
    process->gather_open(*file_, packer_, now_ns);
    process->gather_stop(*file_, packer_, now_ns);
    if (done)
      process->gather_end(*file_, packer_, read_clock_pair(identity_.clock_source, identity_.tick_shift));
    if (!file_->write_batch()) {
      const int error = errno;
      process->rollback();
      return failed(error, path(), now_ns);
    }
    process->commit();
    if (done) lost_by_ended_ += process->lost_events();
  }
  if (!done) return true;
  if (process->segment().torn())
    log_.error("{}: was truncated while it was read; what came before is in the trace",
               printable(process->segment().file().path()));
  ended(*process);
  process.reset();
  last_change_ns_ = now_ns;
  return true;
}

void Session::ended(const TracedProcess& process) {
  damaged_ += process.damaged();
  salvaged_ += process.salvaged();
  SegmentFile unneeded = process.segment().file();
  const bool waits = process.segment().finished();
  if (waits || waiting_ == 0) std::swap(unneeded, left_standing_);
  if (waits) waiting_ = process.segment().header().pid;
  if (unneeded.directory) unneeded.remove();
}

// Releases the process that waits for the trace, because the other processes live on for too long.
void Session::let_go() {
  if (waiting_ == 1) {  // pid 1 of the container: all its processes and the collector are about to be killed
    for (const auto& process : processes_) process->declare_dead();
    return;
  }
  left_standing_.remove();
  left_standing_ = {};
  waiting_ = 0;
}

// A process that an earlier collector wrote about goes on under its number.
void Session::number(TracedProcess& process) {
  const auto known = std::find_if(earlier_.begin(), earlier_.end(), [&](const auto& entry) {
    return same_process(entry.second.frame, process.segment().header());
  });
  if (known == earlier_.end()) {
    process.enter_trace(++numbers_given_, nullptr, stacks_);
  } else {
    process.enter_trace(known->first, &known->second, stacks_);
    earlier_.erase(known);
  }
}

// Always false, for the caller to pass on.
bool Session::failed(int error, const std::string& path, std::uint64_t now_ns) {
  if (failing_since_ns_ == 0) failing_since_ns_ = now_ns;
  retry_at_ns_ = now_ns + kRetryInterval;
  log_.error_once(fmt::format("{}: {}; {} (the data wait in shared memory)", printable(path), reason(error),
                              remedy(error)));
  return false;
}

bool Session::all_dead() const {
  return std::all_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process->dead(); });
}

bool Session::name_meanwhile(std::uint64_t now_ns, bool calm) {
  if (now_ns < next_naming_ns_ + (calm ? 0 : kNamingPatience)) return false;
  if (!naming_) {
    if (!file_ || asks_servers()) return false;
    naming_.emplace(stacks_, log_);
    naming_cost_ns_ = 0;
  }
  const std::uint64_t begin = monotonic_ns();
  const bool done = naming_->name_for(kNamingSlice);
  naming_cost_ns_ += monotonic_ns() - begin;
  if (!done) return true;
  naming_.reset();
  next_naming_ns_ = now_ns + std::max(kNamingInterval, kNamingRest * naming_cost_ns_);
  // Written now and not with the next samples, which may come much later, as in a notebook.
  stacks_.store.write(*file_, packer_, read_clock_pair(identity_.clock_source, identity_.tick_shift).ticks);
  if (file_->write_batch())
    stacks_.store.commit();
  else
    failed(errno, path(), now_ns);
  return true;
}

bool Session::over(std::uint64_t now_ns) const {
  return processes_.empty() && now_ns - last_change_ns_ >= kQuietBeforeEnd && now_ns >= retry_at_ns_;
}

std::uint64_t Session::stuck_since() const { return all_dead() ? failing_since_ns_ : 0; }

std::uint64_t Session::lost_events() const {
  std::uint64_t lost = lost_by_ended_;
  for (const auto& process : processes_) lost += process->lost_events();
  return lost;
}

SessionStatus Session::status(std::uint64_t now_ns) {
  SessionStatus status;
  status.pid = identity_.session_pid;
  status.events = events();
  const bool again = status_at_ns_ != 0 && now_ns > status_at_ns_ && status.events >= status_events_;
  if (again) {
    const double seconds = static_cast<double>(now_ns - status_at_ns_) / kSecond;
    status.events_a_second =
        static_cast<std::uint64_t>(static_cast<double>(status.events - status_events_) / seconds);
  }
  status_events_ = status.events;
  status_at_ns_ = now_ns;
  status.bytes = bytes();
  status.lost = lost_events();
  status.salvaged = salvaged_;
  status.damaged = damaged_;
  status.process_count = numbers_given_;
  status.stuck_s = failing_since_ns_ == 0 ? 0 : 1 + (now_ns - failing_since_ns_) / kSecond;
  status.path = path();
  for (const auto& process : processes_)
    status.processes.push_back({process->segment().header().pid, process->lost_events(),
                                static_cast<unsigned>(process->fill() * 100), process->dead()});
  return status;
}

bool Session::close(std::uint64_t now_ns) {
  if (!file_) return false;
  if (!write_clock(now_ns)) return false;
  const ClockPair closed = read_clock_pair(identity_.clock_source, identity_.tick_shift);
  const TrailerFrame trailer{
      0, 0, file_->events(), lost_events(), closed, numbers_given_, processes_.empty() ? 0u : 1u};
  naming_.reset();
  name_locations(stacks_, log_);
  stacks_.store.write(*file_, packer_, closed.ticks);
  file_->add_index_and_trailer(trailer, packer_);
  if (!file_->write_batch()) return failed(errno, path(), now_ns);
  stacks_.store.commit();
  if (!file_->sync())
    log_.error("{}: {}: the end of the trace may be lost", printable(path()), reason(errno));
  if (left_standing_.directory) left_standing_.remove();
  report();
  return true;
}

void Session::report() {
  const std::uint64_t lost = lost_events();
  if (file_->deleted()) {
    log_.error("{} was deleted while it was being written: its {} events are gone", printable(path()),
               events());
    return;
  }
  std::string line = fmt::format("{}: {} events from {}, {} lost", printable(path()), events(),
                                 counted(numbers_given_, "process", "processes"), lost);
  if (lost > 0)
    line +=
        " (memory ran full before they were collected: "
        "leave a CPU core and disk bandwidth for lotus-collector)";
  if (damaged_ > 0)
    line += fmt::format(", {} of shared memory unusable", counted(damaged_, "record", "records"));
  log_.result(line);
}

}  // namespace lotus::collector
