// What of libjpeg's structures the stand-in has: both begin like the real ones.
#pragma once

#include <csetjmp>

struct manager {
  void* (*alloc_small)();
};
struct decompressor {
  void* err;
  manager* mem;
  jmp_buf* jump;  // not null: reading the header fails by a longjmp
  bool throws;    // starting fails by an exception of C++
};

extern "C" {
void jpeg_CreateDecompress(decompressor*);
int jpeg_read_header(decompressor*, int);
int jpeg_start_decompress(decompressor*);
unsigned jpeg_read_scanlines(decompressor*, void**, unsigned);
int tjDecompress2(void*, const unsigned char*, unsigned long, unsigned char*, int, int, int, int, int);
int tjDecompressHeader3(void*, const unsigned char*, unsigned long, int*, int*, int*, int*);
}
