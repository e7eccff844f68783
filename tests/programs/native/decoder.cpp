// A stand-in for libjpeg, compiled several times: what its functions return says which library they are in.
//   -DANSWER=N   that number
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

unsigned jpeg_read_scanlines(decompressor*, void**, unsigned lines) { return 10 * ANSWER + lines; }

int tjDecompress2(void*, const unsigned char*, unsigned long, unsigned char*, int, int, int, int, int flags) {
  return 10 * ANSWER + flags;
}

int tjDecompressHeader3(void*, const unsigned char*, unsigned long, int* width, int* height, int* subsampling,
                        int* colors) {
  *width = *height = *subsampling = *colors = ANSWER;
  return 0;
}
}
