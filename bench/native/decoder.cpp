// Functions of libjpeg and libwebp that do nothing, and loops that call them as an image's reader does.
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace {
struct Manager {
  void* (*alloc_small)();
};
void* alloc_small() { return nullptr; }
Manager manager = {alloc_small};
struct Decompressor {
  void* err;
  Manager* mem;
};
}  // namespace

extern "C" {
int jpeg_read_header(Decompressor*, int) { return 1; }
unsigned jpeg_read_scanlines(Decompressor*, void**, unsigned lines) { return lines; }
int WebPDecode(const unsigned char*, std::size_t, void*) { return 0; }

void read_lines(std::uint64_t count) {
  Decompressor image = {nullptr, &manager};
  jpeg_read_header(&image, 1);
  for (std::uint64_t i = 0; i < count; ++i) jpeg_read_scanlines(&image, nullptr, 1);
}

void decode_webp(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) WebPDecode(nullptr, 0, nullptr);
}

void read_bytes(int file, std::uint64_t count) {
  char byte = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    if (pread(file, &byte, 1, 0) != 1) return;
}
}
