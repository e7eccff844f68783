#include "frame_index.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace lotus::collector {
namespace {

std::string directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path();
  return directory.empty() ? "." : directory;
}

std::span<const std::uint8_t> entry_bytes(std::span<const IndexEntry> entries) {
  return {reinterpret_cast<const std::uint8_t*>(entries.data()), entries.size_bytes()};
}

bool read_all(int fd, std::span<IndexEntry> entries, std::uint64_t position) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(entries.data());
  std::size_t done = 0;
  while (done < entries.size_bytes()) {
    const ssize_t size =
        pread(fd, bytes + done, entries.size_bytes() - done, static_cast<off_t>(position + done));
    if (size < 0 && errno == EINTR) continue;
    if (size == 0) errno = EIO;
    if (size <= 0) return false;
    done += static_cast<std::size_t>(size);
  }
  return true;
}

}  // namespace

FrameIndex::FrameIndex(std::vector<IndexEntry> known, const std::string& trace)
    : directory_(directory_of(trace)), recent_(std::move(known)) {
  spill();
}

void FrameIndex::append(std::span<const IndexEntry> entries) {
  // Tried only once a block: a failure (a full disk) may last for long.
  const std::size_t blocks = recent_.size() / kIndexBlock;
  recent_.reserve(kIndexBlock + entries.size());  // once: regrowing would fragment the heap by megabytes
  recent_.insert(recent_.end(), entries.begin(), entries.end());
  if (recent_.size() / kIndexBlock > blocks) spill();
}

void FrameIndex::spill() {
  const std::size_t whole = recent_.size() / kIndexBlock * kIndexBlock;
  if (whole == 0) return;
  if (!file_) file_.reset(open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  const auto bytes = entry_bytes(std::span(recent_).first(whole));
  if (!file_ || !write_at(file_.get(), bytes, in_file_ * sizeof(IndexEntry))) return;
  in_file_ += whole;
  recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(whole));
  if (recent_.capacity() > 2 * kIndexBlock)
    recent_.shrink_to_fit();  // frees the room of an earlier collector's entries
}

bool FrameIndex::visit(const std::function<void(std::span<const IndexEntry>)>& take) const {
  std::vector<IndexEntry> block(in_file_ > 0 ? kIndexBlock : 0);
  for (std::uint64_t at = 0; at < in_file_; at += kIndexBlock) {
    if (!read_all(file_.get(), block, at * sizeof(IndexEntry))) return false;
    take(block);
  }
  for (std::size_t at = 0; at < recent_.size(); at += kIndexBlock)
    take(std::span(recent_).subspan(at, std::min(kIndexBlock, recent_.size() - at)));
  return true;
}

}  // namespace lotus::collector
