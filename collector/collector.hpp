// The collector: segments in, trace files out.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "log.hpp"
#include "options.hpp"
#include "packer.hpp"
#include "progress.hpp"
#include "segment_finder.hpp"
#include "session.hpp"
#include "status.hpp"
#include "stop_signal.hpp"
#include "visit_pace.hpp"

namespace lotus::collector {

class Collector {
 public:
  // `log` and `stop` outlive the collector.
  Collector(Options options, Log& log, StopSignal& stop);

  // Serves as the options say, on the calling thread. Call once. Throws std::exception where it cannot go
  // on at all (out of memory); what was not collected is then still in the segments.
  ExitCode run();

 private:
  bool begin(ExitCode& code);
  void serve_until_told();
  ExitCode finish();

  void find_segments(std::uint64_t now_ns);
  void serve(std::unique_ptr<Segment> segment, std::uint64_t now_ns);
  void visit_sessions(std::uint64_t now_ns);
  void close_sessions(std::uint64_t now_ns);
  void give_up(const Session& session);
  bool done_by_itself(std::uint64_t now_ns);
  void wait();
  void show_progress(std::uint64_t now_ns);
  void publish_status(std::uint64_t now_ns);

  Options options_;
  Log& log_;
  StopSignal& stop_;
  Packer packer_;
  Progress progress_;
  SegmentFinder finder_;
  std::map<SessionId, std::unique_ptr<Session>> sessions_;
  bool directory_changed_ = true;
  std::uint64_t next_check_ns_ = 0;
  std::uint64_t busy_at_ns_ = 0;  // when there was a session, or an incomplete segment, last
  VisitPace pace_;
  std::uint64_t visited_at_ns_ = 0;
  std::uint64_t pause_ns_ = 0;  // until the next visit
  bool failed_ = false;
  std::uint64_t closed_count_ = 0;   // traces
  std::deque<ClosedStatus> closed_;  // the last few
  bool published_idle_ = true;
};

}  // namespace lotus::collector
