#include "reading/trace/frame.hpp"

namespace lotus::analyzer {

std::size_t structure_bytes(FrameType type) {
  switch (type) {
    case FrameType::process:
      return sizeof(ProcessFrame);
    case FrameType::clock:
      return sizeof(ClockPair);
    case FrameType::process_end:
      return sizeof(ProcessEndFrame);
    case FrameType::trailer:
      return sizeof(TrailerFrame);
    default:
      return 0;
  }
}

}  // namespace lotus::analyzer
