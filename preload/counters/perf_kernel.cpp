#include "counters/perf_kernel.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lotus {
namespace {

int open_event(const CounterRow& row, bool user_only, int leader) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = perf_type(row.source);
  attributes.config = row.code;
  attributes.config1 = row.code1;
  if (is_of_processor(row.source)) attributes.config1 |= config_for_pages();
  attributes.exclude_kernel = user_only;
  attributes.exclude_hv = 1;
  attributes.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

long read_event(int descriptor, void* to, std::size_t bytes) {
  return syscall(SYS_read, descriptor, to, bytes);
}

// Nothing but an event has such a number.
bool number_of(int descriptor, std::uint64_t& number) {
  return descriptor >= 0 && syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ID, &number) == 0;
}

const EventPage* map_event(int descriptor) {
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  return page != MAP_FAILED ? static_cast<const EventPage*>(page) : nullptr;
}

void unmap_event(const EventPage* page) {
  munmap(const_cast<EventPage*>(page), static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace

constinit PerfKernel perf_kernel{open_event, read_event,  number_of,
                                 map_event,  unmap_event, {counter_of_processor, time_of_processor}};

}  // namespace lotus
