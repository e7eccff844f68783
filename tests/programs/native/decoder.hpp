// The part of libjpeg's structures that the stand-in needs. Fields with names of libjpeg have the same
// offsets.
#pragma once

#include <csetjmp>
#include <cstddef>

struct manager {
  void* (*alloc_small)();
};
struct decompressor {
  void* err;
  manager* mem;
  jmp_buf* jump;  // not null: jpeg_read_header fails by a longjmp
  bool throws;    // jpeg_start_decompress throws a C++ exception
  bool waits;     // some calls of jpeg_read_scanlines return no line
  unsigned calls;
  long long work_ns;   // time per line, 0: none
  long long spent_ns;  // measured in jpeg_read_scanlines
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
