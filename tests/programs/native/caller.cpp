// A library that decodes with the libjpeg to which it is linked. The numbers that its functions return show
// which libjpeg was called.
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

// Reads an image of `lines` lines, each of which takes about `work_ns`. Between two lines does something else
// for `between_ns`, or with `uneven` for 0 to 6 times as long. With `waits`, some calls return no line.
// Returns the time of all calls in ns, and their number in `calls`.
long long read_lines(unsigned lines, long long work_ns, long long between_ns, bool uneven, bool waits,
                     unsigned* calls) {
  decompressor image = make();
  image.work_ns = work_ns;
  image.output_height = lines;
  image.waits = waits;
  jpeg_read_header(&image, 1);
  jpeg_start_decompress(&image);
  for (*calls = 0; image.output_scanline < lines; ++*calls) {
    const bool read = jpeg_read_scanlines(&image, nullptr, 1) == 1;
    const long long begin = now_ns();
    const long long between = !read ? 30 * work_ns : uneven ? *calls % 7 * between_ns : between_ns;
    while (now_ns() - begin < between) continue;
  }
  return image.spent_ns;
}

int decode_with_turbojpeg() {
  int width = 0, height = 0, subsampling = 0, colors = 0;
  tjDecompressHeader3(nullptr, nullptr, 0, &width, &height, &subsampling, &colors);
  return 100 * colors + tjDecompress2(nullptr, nullptr, 0, nullptr, width, 0, height, 0, 7);
}

int decode_webp() { return WebPDecode(nullptr, 7, nullptr); }

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

// Waits until a byte arrives or the thread is cancelled.
long wait_for_byte(int file) {
  char byte = 0;
  return read(file, &byte, 1);
}
}
