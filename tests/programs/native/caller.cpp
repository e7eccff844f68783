// A library that decodes with the libjpeg that it was linked with. Each function returns a number in which
// that library's own has left its mark.
#include <unistd.h>

#include "decoder.hpp"

static decompressor make() {
  decompressor image = {};
  jpeg_CreateDecompress(&image);
  return image;
}

extern "C" {
int decode() {
  decompressor image = make();
  int sum = jpeg_read_header(&image, 1) + 10 * jpeg_start_decompress(&image);
  for (unsigned line = 0; line < 3; ++line)
    sum += 100 * static_cast<int>(jpeg_read_scanlines(&image, nullptr, line));
  return sum;
}

int decode_with_turbojpeg() {
  int width = 0, height = 0, subsampling = 0, colors = 0;
  tjDecompressHeader3(nullptr, nullptr, 0, &width, &height, &subsampling, &colors);
  return 100 * colors + tjDecompress2(nullptr, nullptr, 0, nullptr, width, 0, height, 0, 7);
}

int fail_by_longjmp() {
  decompressor image = make();
  jmp_buf target;
  image.jump = &target;
  const int answer = setjmp(target);
  return answer != 0 ? 1000 + answer : jpeg_read_header(&image, 1);
}

int fail_by_exception() {
  decompressor image = make();
  image.throws = true;
  try {
    return jpeg_start_decompress(&image);
  } catch (int answer) {
    return 2000 + answer;
  }
}

// Waits for a byte until it comes or the thread is cancelled.
long wait_for_byte(int file) {
  char byte = 0;
  return read(file, &byte, 1);
}
}
