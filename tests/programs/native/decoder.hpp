// What of libjpeg's structures the stand-in has: what has a name of libjpeg's stands where it stands there.
#pragma once

#include <csetjmp>
#include <cstddef>

struct manager {
  void* (*alloc_small)();
};
struct decompressor {
  void* err;
  manager* mem;
  jmp_buf* jump;  // not null: reading the header fails by a longjmp
  bool throws;    // starting fails by an exception of C++
  bool waits;     // now and then a line is not there yet
  unsigned calls;
  long long work_ns;   // of a line, 0: none
  long long spent_ns;  // in jpeg_read_scanlines, by its own clock
  char unused[140 - 48];
  unsigned output_height;
  char unused_too[168 - 144];
  unsigned output_scanline;
};
static_assert(offsetof(decompressor, output_height) == 140 && offsetof(decompressor, output_scanline) == 168);

extern "C" {
void jpeg_CreateDecompress(decompressor*);
int jpeg_read_header(decompressor*, int);
int jpeg_start_decompress(decompressor*);
unsigned jpeg_read_scanlines(decompressor*, void**, unsigned);
long long now_ns();
int WebPDecode(const unsigned char*, std::size_t, void*);
int tjDecompress2(void*, const unsigned char*, unsigned long, unsigned char*, int, int, int, int, int);
int tjDecompressHeader3(void*, const unsigned char*, unsigned long, int*, int*, int*, int*);
}
