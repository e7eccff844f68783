#include "trace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace lotus::collector {
namespace {

std::uint64_t count_events(std::span<const IndexEntry> entries) {
  std::uint64_t events = 0;
  for (const IndexEntry& entry : entries)
    if (entry.type == FrameType::chunk) events += entry.events;
  return events;
}

constexpr std::uint64_t kWritebackBytes = std::uint64_t{4} << 20;
static_assert(kIndexBlock * sizeof(IndexEntry) <= kMaxRawFrame);

}  // namespace

TraceFile::TraceFile(Fd fd, std::string path, std::uint64_t end, std::vector<IndexEntry> index)
    : fd_(std::move(fd)),
      path_(std::move(path)),
      end_(end),
      events_(count_events(index)),
      index_(std::move(index), path_) {}

void TraceFile::add_raw(FrameHeader header, Bytes body) {
  header.codec = Codec::raw;
  header.raw_bytes = static_cast<std::uint32_t>(body.size());
  add_stored(header, body);
}

void TraceFile::add_packed(FrameHeader header, Bytes body, Packer& packer) {
  header.codec = Codec::zstd;
  header.raw_bytes = static_cast<std::uint32_t>(body.size());
  add_stored(header, packer.pack(body));
}

void TraceFile::add_stored(FrameHeader header, Bytes stored) {
  header.stored_bytes = static_cast<std::uint32_t>(stored.size());
  header.check = frame_check(header);
  batch_index_.push_back({end_ + batch_.size(),
                          header.base_ticks,
                          header.process,
                          header.stream,
                          header.events,
                          header.type,
                          {}});
  const Bytes head = bytes_of(header);
  batch_.insert(batch_.end(), head.begin(), head.end());
  batch_.insert(batch_.end(), stored.begin(), stored.end());
}

void TraceFile::add_file_header(const FileHeader& header) {
  const Bytes bytes = bytes_of(header);
  batch_.insert(batch_.end(), bytes.begin(), bytes.end());
}

bool TraceFile::write_batch() {
  if (!write_at(fd_.get(), batch_, end_)) {
    const int error = errno;
    // If truncating fails, the next batch overwrites the rest, since it starts at the same place.
    (void)!ftruncate(fd_.get(), static_cast<off_t>(end_));
    forget_batch();
    errno = error;
    return false;
  }
  end_ += batch_.size();
  batch_.clear();
  events_ += count_events(batch_index_);
  index_.append(batch_index_);
  batch_index_.clear();
  start_writeback();
  return true;
}

// Starts writing to the disk while the trace grows, so that sync() at its end does not delay other sessions.
void TraceFile::start_writeback() {
  if (end_ - on_its_way_ < kWritebackBytes) return;
  const auto begin = static_cast<off_t>(on_its_way_);
  // Only a hint: where it fails, sync() does all of the work.
  sync_file_range(fd_.get(), begin, static_cast<off_t>(end_) - begin, SYNC_FILE_RANGE_WRITE);
  on_its_way_ = end_;
}

void TraceFile::forget_batch() {
  batch_.clear();
  batch_index_.clear();
}

void TraceFile::add_index_and_trailer(TrailerFrame trailer, Packer& packer) {
  trailer.index_offset = end_ + batch_.size();
  const std::size_t before = batch_.size();
  const auto add = [&](std::span<const IndexEntry> entries) {
    if (entries.empty()) return;
    add_packed(frame_header(FrameType::index, 0),
               {reinterpret_cast<const std::uint8_t*>(entries.data()), entries.size_bytes()}, packer);
    ++trailer.index_frames;
  };
  const std::vector<IndexEntry> last = batch_index_;
  if (index_.visit(add)) {
    add(last);
  } else {
    batch_.resize(before);
    trailer.index_frames = 0;
  }
  add_raw(frame_header(FrameType::trailer, 0), bytes_of(trailer));
}

bool TraceFile::sync() const { return fsync(fd_.get()) == 0 || errno == EINVAL || errno == EROFS; }

void TraceFile::remove_if_empty() const {
  struct stat ours {};
  struct stat named {};
  const bool same = fstat(fd_.get(), &ours) == 0 && lstat(path_.c_str(), &named) == 0 &&
                    ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
  if (same && ours.st_size <= static_cast<off_t>(sizeof(FileHeader))) unlink(path_.c_str());
}

bool TraceFile::deleted() const {
  struct stat status {};
  return fstat(fd_.get(), &status) == 0 && status.st_nlink == 0;
}

}  // namespace lotus::collector
