// File access of libdw, made safe: the binaries of traced programs may be crafted, and they say which debug
// files libdw opens and what it decompresses. Opening a pipe would block for ever, and a few KiB may expand
// to GiB. The decompression here replaces libdw's own.
#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

extern "C" {
int lotus_open_plain(const char* path, int flags, ...);
int lotus_open_plain64(const char* path, int flags, ...);  // where libdw was built with large files
int __libdw_unlzma(int fd, off_t start, void* mapped, std::size_t mapped_size, void** whole,
                   std::size_t* whole_size);
int __libdw_gunzip(int fd, off_t start, void* mapped, std::size_t mapped_size, void** whole,
                   std::size_t* whole_size);
int __libdw_bunzip2(int fd, off_t start, void* mapped, std::size_t mapped_size, void** whole,
                    std::size_t* whole_size);
int __libdw_unzstd(int fd, off_t start, void* mapped, std::size_t mapped_size, void** whole,
                   std::size_t* whole_size);
}

namespace {

// Symbols in .gnu_debugdata; those of the largest libraries take a few MiB.
constexpr std::size_t kMaxUnpacked = std::size_t{64} << 20;
constexpr std::size_t kFirstUnpacked = std::size_t{1} << 20;
constexpr std::uint64_t kMaxDictionary = std::uint64_t{128} << 20;  // of the decoder, bytes

// As in libdw's table of errors.
constexpr int kUnpacked = 0;
constexpr int kFailed = 1;

struct Decoder {
  lzma_stream stream = LZMA_STREAM_INIT;
  ~Decoder() { lzma_end(&stream); }
};

struct Buffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  ~Buffer() { std::free(bytes); }
  bool grow() {
    const std::size_t larger = size == 0 ? kFirstUnpacked : 2 * size;
    auto* moved = larger > kMaxUnpacked ? nullptr : static_cast<std::uint8_t*>(std::realloc(bytes, larger));
    if (moved == nullptr) return false;
    bytes = moved;
    size = larger;
    return true;
  }
};

// False if `stream` is incomplete, or too large.
bool unpack(lzma_stream& stream, Buffer& buffer) {
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK) {
    if (stream.avail_out == 0) {
      if (!buffer.grow()) return false;
      stream.next_out = buffer.bytes + stream.total_out;
      stream.avail_out = buffer.size - stream.total_out;
    }
    result = lzma_code(&stream, LZMA_FINISH);
  }
  return result == LZMA_STREAM_END;
}

}  // namespace

// libdw only reads.
int lotus_open_plain(const char* path, int flags, ...) {
  const int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat status {};
  if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))) return fd;
  close(fd);
  errno = EINVAL;
  return -1;
}

int lotus_open_plain64(const char* path, int flags, ...) { return lotus_open_plain(path, flags); }

int __libdw_unlzma(int, off_t, void* mapped, std::size_t mapped_size, void** whole, std::size_t* whole_size) {
  if (mapped == nullptr) return kFailed;
  Decoder decoder;
  if (lzma_stream_decoder(&decoder.stream, kMaxDictionary, 0) != LZMA_OK) return kFailed;
  decoder.stream.next_in = static_cast<const std::uint8_t*>(mapped);
  decoder.stream.avail_in = mapped_size;
  Buffer buffer;
  if (!unpack(decoder.stream, buffer)) return kFailed;
  *whole_size = decoder.stream.total_out;
  *whole = std::exchange(buffer.bytes, nullptr);
  return kUnpacked;
}

// Only kernel images are compressed as a whole.
int __libdw_gunzip(int, off_t, void*, std::size_t, void**, std::size_t*) { return kFailed; }
int __libdw_bunzip2(int, off_t, void*, std::size_t, void**, std::size_t*) { return kFailed; }
int __libdw_unzstd(int, off_t, void*, std::size_t, void**, std::size_t*) { return kFailed; }
