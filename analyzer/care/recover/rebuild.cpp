#include "care/recover/rebuild.hpp"

#include <algorithm>
#include <cstring>

#include "reading/trace/frame_writer.hpp"
#include "reading/trace/payload.hpp"
#include "text/error.hpp"

namespace lotus::analyzer {
namespace {

class Rebuilder {
 public:
  Rebuilder(const Source& source, const Contents& contents, Output& out)
      : source_(source),
        contents_(contents),
        payload_(source),
        writer_(out, contents.header(), contents.schema()) {}

  Rebuilt run() {
    for (std::size_t i = 0; i < contents_.kept().size(); ++i) {
      const Frame frame = read(contents_.kept()[i]);
      announce(frame.header.process, i);
      write(frame, contents_.kept()[i]);
    }
    writer_.finish(trailer());
    return {writer_.events(), writer_.position()};
  }

 private:
  Frame read(const Kept& kept) const {
    Frame frame;
    frame.offset = kept.offset;
    if (source_.read(kept.offset, &frame.header, sizeof frame.header) != sizeof frame.header)
      throw Unusable(source_.path() + ": changed while it was read; try again");
    return frame;
  }

  // A process whose frame is lost gets one before its first other frame.
  void announce(std::uint32_t number, std::size_t nth) {
    const auto found = contents_.processes().find(number);
    if (found == contents_.processes().end() || found->second.has_frame || found->second.first_kept != nth)
      return;
    const ProcessFrame process{found->second.pid, found->second.parent_pid, 0, {}};
    writer_.raw(frame_header(FrameType::process, number), bytes_of(process));
  }

  void write(const Frame& frame, const Kept& kept) {
    FrameHeader header = frame.header;
    std::span<const std::uint8_t> body;
    if (!payload_.read(frame, body))
      throw Unusable(source_.path() + ": changed while it was read; try again");
    header.lost_before += kept.lost_here;
    if (header.type == FrameType::process_end) return write_end(header, body);
    if (kept.body_bytes == body.size()) return writer_.copy(header, payload_.stored());
    header.events = kept.events;
    writer_.pack(header, body.first(kept.body_bytes));
  }

  void write_end(const FrameHeader& header, std::span<const std::uint8_t> body) {
    ProcessEndFrame end{};
    std::memcpy(&end, body.data(), sizeof end);
    const auto& events = contents_.losses().events();
    if (const auto gone = events.find(header.process); gone != events.end()) end.lost_events += gone->second;
    lost_ += end.lost_events;
    writer_.raw(header, bytes_of(end));
  }

  TrailerFrame trailer() const {
    const auto& processes = contents_.processes();
    const bool all_ended = std::all_of(processes.begin(), processes.end(),
                                       [](const auto& entry) { return entry.second.has_end; });
    TrailerFrame trailer{};
    trailer.lost_events = lost_;
    trailer.closed = contents_.latest();
    trailer.processes = static_cast<std::uint32_t>(processes.size());
    trailer.interrupted = all_ended ? 0 : 1;
    return trailer;
  }

  const Source& source_;
  const Contents& contents_;
  PayloadReader payload_;
  FrameWriter writer_;
  std::uint64_t lost_ = 0;
};

}  // namespace

Rebuilt write_recovered(const Source& source, const Contents& contents, Output& out) {
  return Rebuilder(source, contents, out).run();
}

}  // namespace lotus::analyzer
