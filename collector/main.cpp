// lotus-collector: reads the options, readies the process, and runs the collector.
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <variant>

#include "collector.hpp"
#include "names/event_numbers.hpp"
#include "show_status.hpp"

namespace {

using namespace lotus::collector;

constexpr int kLargeBlock = 256 << 10;  // bytes

// Opens closed standard streams, so that no trace file gets their descriptor numbers.
void open_standard_streams() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd > STDERR_FILENO) close(fd);
}

// Each traced process needs a descriptor.
void raise_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void ready_process(Mode mode) {
  unsetenv("LD_PRELOAD");
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // then write() fails, and that is handled
  raise_open_files();
  // Large blocks are mapped by themselves, so that memory of a burst of processes returns to the system. By
  // default, glibc raises this threshold to the largest block ever freed.
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  // The working directory of a collector must not prevent an unmount.
  if (mode == Mode::autostart && chdir("/") != 0) return;
}

ExitCode run(const Options& options) {
  Log log(options.log_file,
          options.mode == Mode::autostart ? Log::Where::nowhere : Log::Where::standard_error, options.quiet);
  try {
    StopSignal stop;
    stop.listen();
    return Collector(options, log, stop).run();
  } catch (const std::exception& error) {
    log.error("{}; what was not collected is still in the segments", error.what());
    return kFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  const auto parsed = parse_options(argc, argv);
  if (const auto* code = std::get_if<ExitCode>(&parsed)) return *code;
  const Options& options = std::get<Options>(parsed);
  if (options.mode == Mode::status) return show_status(options);
  if (options.mode == Mode::encode) return print_event_numbers(options.events) ? kDone : kFailed;
  ready_process(options.mode);
  return run(options);
}
