#include "segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "text.hpp"

namespace lotus::collector {
namespace {

std::string what_is_wrong(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "not a plain file";
  if (status.st_uid != geteuid()) return fmt::format("owned by user {}", status.st_uid);
  if (status.st_nlink != 1) return fmt::format("{} links to it", status.st_nlink);
  if ((status.st_mode & ALLPERMS) != 0600) return fmt::format("mode {:04o}", status.st_mode & ALLPERMS);
  if (static_cast<std::uint64_t>(status.st_size) > kMaxSegmentBytes)
    return fmt::format("{} bytes", status.st_size);
  return {};
}

// The file itself may be good: opening it can succeed later.
bool is_passing(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR || error == EAGAIN;
}

std::string why_not_opened(int error) {
  return error == ELOOP || error == EISDIR || error == ENXIO ? "not a plain file" : reason(error);
}

SegmentHeader copy_header(const GuardedMapping& mapping) {
  const auto* shared = reinterpret_cast<const SegmentHeader*>(mapping.data());
  const std::uint32_t ready = __atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE);
  SegmentHeader copy;
  std::memcpy(&copy, shared, sizeof copy);
  copy.ready = ready;
  return copy;
}

std::uint64_t load(const std::uint64_t& shared) { return __atomic_load_n(&shared, __ATOMIC_RELAXED); }

}  // namespace

void SegmentFile::remove() const {
  struct stat status {};
  if (fstatat(directory->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (status.st_dev == device && status.st_ino == inode) unlinkat(directory->fd(), name.c_str(), 0);
}

Segment::Segment(SegmentFile file, std::unique_ptr<GuardedMapping> mapping, const SegmentHeader& checked)
    : file_(std::move(file)),
      mapping_(std::move(mapping)),
      header_(std::make_unique<const SegmentHeader>(checked)) {}

RingCursor Segment::ring(RingIndex index) const {
  auto* ring = reinterpret_cast<RingHeader*>(mapping_->data() + header_->ring_offset[index]);
  return {ring, header_->ring_bytes[index]};
}

ThreadSlot Segment::slot(std::uint32_t index) const {
  ThreadSlot copy;
  std::memcpy(&copy, mapping_->data() + header_->slots_offset + std::uint64_t{index} * sizeof copy,
              sizeof copy);
  return copy;
}

const std::uint8_t* Segment::chunk(std::uint32_t index) const {
  return mapping_->data() + header_->chunks_offset + std::uint64_t{index} * header_->chunk_bytes;
}

SegmentCounters Segment::counters() const {
  const SegmentHeader& from = *shared();
  return {load(from.lost_events),      load(from.lost_chunks),
          load(from.lost_definitions), load(from.dropped_spans),
          load(from.flush_ticks),      load(from.off_reason),
          load(from.lost_snapshots),   static_cast<Life>(load(from.life))};
}

PythonFrames Segment::python() const {
  const PythonFrames& from = shared()->python;
  const std::uint64_t code_type = __atomic_load_n(&from.code_type, __ATOMIC_ACQUIRE);
  PythonFrames frames = from;
  frames.code_type = code_type;
  return frames;
}

bool Segment::finished() const { return __atomic_load_n(&shared()->finished, __ATOMIC_ACQUIRE) != 0; }

void Segment::beat(std::uint64_t now_ns) const {
  __atomic_store_n(&shared()->reader_pid, static_cast<std::uint32_t>(getpid()), __ATOMIC_RELAXED);
  __atomic_store_n(&shared()->reader_beat_ns, now_ns, __ATOMIC_RELEASE);
}

OpenedSegment open_segment(const std::shared_ptr<const Directory>& directory, const std::string& name,
                           std::uint64_t pid_namespace) {
  OpenedSegment opened;
  const Fd file(
      openat(directory->fd(), name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) {
    opened.error = errno;
    if (opened.error != ENOENT && !is_passing(opened.error))
      opened = {{Verdict::damaged, why_not_opened(opened.error)}, nullptr, 0};
    return opened;
  }
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (std::string wrong = what_is_wrong(status); !wrong.empty()) {
    opened.verdict = {Verdict::damaged, std::move(wrong)};
  } else if (bytes < kMinSegmentBytes) {
    opened.verdict.verdict = Verdict::not_ready;
  } else if (auto mapping = GuardedMapping::map(file.get(), bytes)) {
    const SegmentHeader header = copy_header(*mapping);
    const auto parsed = parse_segment_name(name);
    opened.verdict = check_segment(header, {parsed.value_or(SegmentName{}), bytes, pid_namespace});
    if (opened.verdict.verdict == Verdict::good)
      opened.segment = std::make_unique<Segment>(SegmentFile{directory, name, status.st_dev, status.st_ino},
                                                 std::move(mapping), header);
  } else {
    opened.error = errno;
  }
  return opened;
}

}  // namespace lotus::collector
