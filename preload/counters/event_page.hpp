// Reading a counter without the kernel: what it keeps of an event stands in a page that is mapped, and the
// processor's part is read by an instruction of user space (perf_event_mmap_page in linux/perf_event.h).
//
// The page is not mapped in a forked child, and reading it there would be fatal. So it is read only where the
// process is the one that mapped it: StillHere says so without a system call.
#pragma once

#include <cstdint>

namespace lotus {

// The beginning of perf_event_mmap_page: headers of older systems lack its last fields.
struct EventPage {
  std::uint32_t version, compat_version;
  std::uint32_t lock;   // changes whenever the kernel writes
  std::uint32_t index;  // of the processor's counter, from 1; 0: the event is not on the processor
  std::int64_t offset;  // to be added to what the counter says
  std::uint64_t time_enabled, time_running;
  std::uint64_t capabilities;
  std::uint16_t pmc_width;  // bits of the counter
  std::uint16_t time_shift;
  std::uint32_t time_mult;
  std::uint64_t time_offset, time_zero;
  std::uint32_t size, reserved;
  std::uint64_t time_cycles, time_mask;
};
static_assert(sizeof(EventPage) == 96);
inline constexpr std::uint64_t kMayReadCounter = 1u << 2, kMayReadTime = 1u << 3, kTimeIsShort = 1u << 5;

// What the page and the processor say together.
struct PageRead {
  std::uint64_t value, enabled, running;
};

// The processor's counter of that number, and the counter that its time is told by.
struct ProcessorCounters {
  std::uint64_t (*counter)(std::uint32_t number);
  std::uint64_t (*time)();
};
// This processor's; counter_of_processor() is fatal where no page allows it.
std::uint64_t counter_of_processor(std::uint32_t number);
std::uint64_t time_of_processor();

// False: user space may not read it, or the kernel wrote again and again meanwhile.
bool read_page(const EventPage& page, const ProcessorCounters& processor, PageRead& read);

// Whether an event can be read so at all on this kind of processor; what perf_event_attr.config1 asks for
// then.
bool pages_are_of_use();
std::uint64_t config_for_pages();

// Tells a process from its forked children: memory that is zero in a child.
class StillHere {
 public:
  // Of a process, by its id; 0: not known, and nothing is read from pages.
  std::uint32_t begin(std::uint32_t pid);
  bool is(std::uint32_t pid) const { return pid != 0 && mark_ != nullptr && *mark_ == pid; }

 private:
  std::uint32_t* mark_ = nullptr;
  bool refused_ = false;
};

}  // namespace lotus
