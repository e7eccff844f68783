// Appends to a trace file. Frames are gathered into a batch, and a batch is written with one write, so that
// readers see whole frames except during that write. A batch that could not be written is undone, both in the
// file and here.
#pragma once

#include <cstdint>
#include <lotus/trace.hpp>
#include <span>
#include <string>
#include <vector>

#include "fd.hpp"
#include "frame_index.hpp"
#include "packer.hpp"

namespace lotus::collector {

class TraceFile {
 public:
  // `end`: where the next frame belongs; all frames before it are described by `index`.
  TraceFile(Fd fd, std::string path, std::uint64_t end, std::vector<IndexEntry> index);

  // Adds a frame to the batch; codec and sizes are filled in.
  void add_raw(FrameHeader header, Bytes body);
  void add_packed(FrameHeader header, Bytes body, Packer& packer);
  // Adds a frame whose payload is compressed already; codec and raw_bytes are the caller's.
  void add_stored(FrameHeader header, Bytes stored);
  // Adds bytes that are no frame: the file header, before the first frame.
  void add_file_header(const FileHeader& header);

  std::uint64_t batch_bytes() const { return batch_.size(); }
  // Writes the batch. False with errno set: the file is as it was before, and the batch is gone.
  bool write_batch();
  void forget_batch();

  // Adds index frames for everything added so far, and the trailer (its index fields are filled in). If the
  // index cannot be read back, it is left out: readers find frames without it.
  void add_index_and_trailer(TrailerFrame trailer, Packer& packer);
  // Waits until the file is on its disk. False with errno set.
  bool sync() const;

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return end_; }
  // Events in the chunks that are in the file.
  std::uint64_t events() const { return events_; }
  // True if the file was deleted: its content is gone when it is closed.
  bool deleted() const;
  // Deletes the file if nothing was ever written to it.
  void remove_if_empty() const;

 private:
  void start_writeback();

  Fd fd_;
  std::string path_;
  std::uint64_t end_;
  std::vector<std::uint8_t> batch_;
  std::uint64_t events_ = 0;
  std::vector<IndexEntry> batch_index_;
  FrameIndex index_;              // of what is in the file
  std::uint64_t on_its_way_ = 0;  // bytes that the kernel was asked to write to the disk
};

}  // namespace lotus::collector
