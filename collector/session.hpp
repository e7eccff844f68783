// A session: a traced program with all its processes, and the one trace file that they share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "log.hpp"
#include "names/namer.hpp"
#include "output_file.hpp"
#include "packer.hpp"
#include "stacks/process_stacks.hpp"
#include "status.hpp"
#include "trace_file.hpp"
#include "traced_process.hpp"

namespace lotus::collector {

// The process that the session is named by: the ancestor of all others, or a launcher.
struct SessionId {
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;
  bool operator<(const SessionId& other) const {
    return std::tie(pid, start_time) < std::tie(other.pid, other.start_time);
  }
};
SessionId session_of(const SegmentHeader& header);

class Session {
 public:
  // `first`: header of the first segment that was found; the others must agree with it, see fits().
  // `fallback_directory`: where the trace goes if its own path could never be written.
  // `packer` and `log` outlive the session.
  Session(const SegmentHeader& first, std::string fallback_directory, Packer& packer, Log& log);

  bool fits(const SegmentHeader& header) const;
  void add(std::unique_ptr<TracedProcess> process, std::uint64_t now_ns);

  // Writes the new records. Processes that ended are written completely and their segments deleted, except
  // the last one: it stays until the trace is closed, so that after a killed collector the next one finds it
  // and closes the trace. While the trace cannot be written, tries again each second; `insist`: tries now,
  // and leaves nothing in a ring.
  Filling visit(std::uint64_t now_ns, bool insist = false);
  // The collector stood still since then.
  void note_standstill() {
    for (const auto& process : processes_) process->note_standstill();
  }

  // Names the functions sampled so far, for some milliseconds a call, so that the trace of a program that
  // runs for days, or is killed with its collector, has names. Done seldom, so that it costs a thousandth of
  // the time. Reading the symbols of a large library takes a quarter of a second (some seconds with PyTorch's
  // debugging information), and nothing is collected meanwhile: so it waits for `calm` rings, up to a limit,
  // and events that do not fit into the rings are counted as lost. False: there was nothing to do.
  bool name_meanwhile(std::uint64_t now_ns, bool calm);

  // Every process has ended and is in the file, and no new one came for a while.
  bool over(std::uint64_t now_ns) const;
  // Since when (ns) data of ended processes could not be written, 0 if they can.
  std::uint64_t stuck_since() const;
  // Writes index and trailer and logs the result. False: they could not be written.
  bool close(std::uint64_t now_ns);

  const std::vector<std::unique_ptr<TracedProcess>>& processes() const { return processes_; }
  std::uint64_t events() const { return file_ ? file_->events() : 0; }
  std::uint64_t bytes() const { return file_ ? file_->bytes() : 0; }
  std::uint64_t lost_events() const;
  std::string path() const { return file_ ? file_->path() : output_; }
  // The session as `lotus-collector --status` shows it.
  SessionStatus status(std::uint64_t now_ns);

 private:
  bool open(std::uint64_t now_ns, bool insist);
  bool open_at(const std::string& path, int& error);
  bool start_file();
  void restore_ended();
  void restore_stacks(const std::vector<DefinitionBody>& definitions);
  bool write_clock(std::uint64_t now_ns);
  bool visit_process(std::unique_ptr<TracedProcess>& process, std::uint64_t now_ns, bool all,
                     Filling& filling);
  void number(TracedProcess& process);
  bool failed(int error, const std::string& path, std::uint64_t now_ns);
  bool all_dead() const;
  void ended(const TracedProcess& process);
  void let_go();
  void report();

  std::string output_;
  std::string fallback_directory_;
  Packer& packer_;
  Log& log_;
  FileHeader identity_{};
  std::unique_ptr<TraceFile> file_;
  Stacks stacks_;
  std::optional<Namer> naming_;
  std::uint64_t naming_cost_ns_ = 0, next_naming_ns_ = 0;
  std::map<std::uint32_t, ScannedProcess> earlier_;  // in the file already; by number, until found again
  std::vector<std::unique_ptr<TracedProcess>> processes_;
  SegmentFile left_standing_;  // segment of a process that ended; no directory: none
  std::uint32_t waiting_ = 0;  // pid of that process, if it waits for the removal; 0: it does not
  std::uint32_t numbers_given_ = 0;
  std::uint64_t lost_by_ended_ = 0;
  std::uint64_t damaged_ = 0;                           // unusable records in segments of ended processes
  std::uint64_t salvaged_ = 0;                          // events from open chunks of ended processes
  std::uint64_t status_events_ = 0, status_at_ns_ = 0;  // when status() was asked last
  std::uint64_t last_change_ns_ = 0;                    // a process came or ended
  std::uint64_t next_clock_ns_ = 0;
  std::uint64_t retry_at_ns_ = 0;
  std::uint64_t failing_since_ns_ = 0;
  bool said_deleted_ = false;
};

}  // namespace lotus::collector
