#include "standing_frames.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace lotus::collector {
namespace {

constexpr std::size_t kMostFrames = 64;
constexpr int kTries = 4;

class OtherMemory {
 public:
  explicit OtherMemory(std::uint32_t pid) : pid_(static_cast<pid_t>(pid)) {}

  bool read(std::uint64_t address, void* to, std::size_t bytes) {
    const iovec target{to, bytes};
    const iovec source{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
    const ssize_t got = process_vm_readv(pid_, &target, 1, &source, 1, 0);
    if (got < 0 && errno != EFAULT) error_ = errno;
    return got == static_cast<ssize_t>(bytes);
  }
  int error() const { return error_; }

 private:
  pid_t pid_;
  int error_ = 0;
};

std::vector<StandingFrame> walk(const PythonFrames& layout, std::uint64_t thread_state, OtherMemory& memory) {
  std::vector<StandingFrame> frames;
  PythonFrameWalk walk(layout, memory);
  NamedPythonFrame frame;
  if (!walk.begin(thread_state)) return frames;
  while (frames.size() < kMostFrames && walk.next(frame))
    frames.push_back({frame.name, frame.file, frame.line});
  return frames;
}

bool same(const std::vector<StandingFrame>& one, const std::vector<StandingFrame>& other) {
  return one.size() == other.size() &&
         std::equal(one.begin(), one.end(), other.begin(), [](const auto& a, const auto& b) {
           return a.line == b.line && a.function == b.function && a.file == b.file;
         });
}

}  // namespace

StandingFrames standing_frames(std::uint32_t pid, const PythonFrames& layout, std::uint64_t thread_state) {
  OtherMemory memory(pid);
  // The process runs on: what is read twice the same was there.
  std::vector<StandingFrame> last = walk(layout, thread_state, memory);
  for (int i = 0; i < kTries && memory.error() == 0 && !last.empty(); ++i) {
    std::vector<StandingFrame> again = walk(layout, thread_state, memory);
    if (same(last, again)) return {std::move(last), 0};
    last = std::move(again);
  }
  return {{}, memory.error()};
}

}  // namespace lotus::collector
