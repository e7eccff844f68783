// A stand-in for libjpeg, TurboJPEG and libwebp, compiled several times. The return values of its functions
// identify the library.
//   -DANSWER=N   the number of the library
#include <time.h>

#include <csetjmp>

#include "decoder.hpp"

static void* alloc_small() { return nullptr; }
static manager memory = {alloc_small};

extern "C" {
void jpeg_CreateDecompress(decompressor* image) { image->mem = &memory; }

int jpeg_read_header(decompressor* image, int) {
  if (image->jump != nullptr) longjmp(*image->jump, ANSWER);
  return ANSWER;
}

int jpeg_start_decompress(decompressor* image) {
  if (image->throws) throw ANSWER;
  return ANSWER;
}

long long now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// As in a photograph, most of the work for sixteen lines is done at the call for the first of them.
unsigned jpeg_read_scanlines(decompressor* image, void**, unsigned lines) {
  if (image->work_ns == 0) return 10 * ANSWER + lines;
  const long long begin = now_ns();
  const bool read = !image->waits || ++image->calls % 25 != 0;
  const long long work = !read                              ? 0
                         : image->output_scanline % 16 == 0 ? 12 * image->work_ns
                                                            : image->work_ns / 4;
  while (now_ns() - begin < work) continue;
  image->output_scanline += read ? 1 : 0;
  image->spent_ns += now_ns() - begin;
  return read ? 1 : 0;
}

int WebPDecode(const unsigned char*, std::size_t size, void*) { return 10 * ANSWER + static_cast<int>(size); }

int tjDecompress2(void*, const unsigned char*, unsigned long, unsigned char*, int, int, int, int, int flags) {
  return 10 * ANSWER + flags;
}

int tjDecompressHeader3(void*, const unsigned char*, unsigned long, int* width, int* height, int* subsampling,
                        int* colors) {
  *width = *height = *subsampling = *colors = ANSWER;
  return 0;
}
}
