#include "life/first_event.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "counters/listing.hpp"
#include "counters/perf_events.hpp"
#include "counters/processor.hpp"
#include "counters/wanted.hpp"
#include "life/autostart.hpp"
#include "life/config.hpp"
#include "life/describe.hpp"
#include "life/output_file.hpp"
#include "life/serving.hpp"
#include "life/session.hpp"
#include "pipeline/trial.hpp"
#include "python/call_costs.hpp"
#include "record/recorder.hpp"
#include "sampling/sampler.hpp"
#include "system/files.hpp"
#include "system/log.hpp"
#include "system/mark.hpp"

namespace lotus {
namespace {

void announce(CollectorStart collector) {
  const char* tried = trial_remark();
  const char* refused = counters_remark();
  if (!session.first) return;
  const char* hint = "";
  if (!config.autostart)
    hint = " (when `lotus-collector --drain` is run)";
  else if (collector == CollectorStart::absent)
    hint = " (when `lotus-collector` is run: none stands beside liblotus.so)";
  else if (collector == CollectorStart::failed)
    hint = " (when `lotus-collector` is run: it could not be started from here)";
  char program[kPathBytes];
  char other[kPathBytes + 128] = "";
  const std::uint32_t pid = collector == CollectorStart::serving ? serving(session.directory).pid : 0;
  if (pid != 0 && is_of_another_installation(pid, program))
    std::snprintf(other, sizeof other, " (by the collector of another installation: %s, pid %u)", program,
                  pid);
  char line[2 * kPathBytes + 1024];
  std::snprintf(line, sizeof line, "tracing to %s%s%s%s%s%s%s%s%s%s%s", session.output, hint, other,
                tried != nullptr ? "; " : "", tried != nullptr ? tried : "", refused != nullptr ? "; " : "",
                refused != nullptr ? refused : "", session.remark[0] != '\0' ? "; " : "", session.remark,
                config.complaint[0] != '\0' ? "; " : "", config.complaint);
  say(line);
}

// False: `reason` says why.
bool make_first_segment(char* reason) {
  // Elsewhere only for want of room: where this process may no more go (setuid, chroot), its session's
  // collector sees nothing of what it would write in another place.
  for (;;) {
    const Made made = open_segment(
        {session.directory, session.pid, session.start_time, session.program, session.output}, reason);
    if (made == Made::yes) return true;
    if (made == Made::no || !next_directory()) return false;
  }
}

// Nobody goes on with the trace's file for now.
void give_back() {
  if (session.root) give_back_output(session.output, session.pid, session.start_time);
}

constinit std::uint64_t begun_at_cpu_ns = 0;

bool begin_recording() {
  begun_at_cpu_ns = cpu_ns();
  if (!find_session()) {
    switch_off(OffReason::none, session.remark);
    return false;
  }
  char reason[256];
  if (!make_first_segment(reason)) {
    give_back();
    switch_off(OffReason::none, reason);
    return false;
  }
  const CollectorStart collector = config.autostart ? ensure_collector() : CollectorStart::serving;
  if (collector == CollectorStart::absent || collector == CollectorStart::failed) give_back();
  look_up_counters([](const char* names, char* answer, std::size_t size) {
    return ask_collector("--encode", names, answer, size);
  });
  try_counters();
  announce(collector);
  if (session.first && wanted_counters.listed) list_counters(say);
  return true;
}

void tell_counters() {
  if (!counters_on) return;
  for (std::size_t i = 0; i < wanted_counters.count; ++i) {
    const WantedCounter& counter = wanted_counters.of[i];
    define<Kind::counting>(i + 1, counter.row.name, std::uint64_t{counter.user_only},
                           static_cast<std::uint64_t>(counter.error));
  }
  const ProcessorId processor = this_processor();
  define<Kind::processor>(processor.vendor, processor.family, processor.model);
}

void describe_and_sample() {
  forget_calls_before();
  describe_process();
  tell_counters();
  start_sampler();
  define<Kind::tracing_cost>(call_costs.outside_ps, call_costs.inside_ps, cpu_ns() - begun_at_cpu_ns);
}

}  // namespace

bool is_helper_process() {
  char arguments[1024];
  const std::size_t size = read_file("/proc/self/cmdline", arguments, sizeof arguments);
  return memmem(arguments, size, "multiprocessing", 15) != nullptr;
}

void prepare_first_event() {
  lifecycle = {begin_recording, describe_and_sample, check_collector, loaders_of_ancestor};
}

void switch_off(OffReason reason, const char* line) {
  process.off = true;
  if (process.segment.header != nullptr)
    process.segment.header->off_reason = static_cast<std::uint64_t>(reason);
  char text[700];
  std::snprintf(text, sizeof text, "not tracing process %d: %.600s", getpid(), line);
  // One line per process tree: what the first process said, or will say, its helpers do not repeat, nor what
  // a launcher starts that has said it, nor those that were forked beside the one that did.
  if ((session.known && !session.first) || is_helper_process() || is_marked_or_descends() ||
      !is_first_of_forks())
    return note(text);
  say(text);
  mark_process();
}

void become_child() {
  forget_parent();
  forget_sampler();
  session.root = session.first = false;
}

}  // namespace lotus
