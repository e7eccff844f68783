// Python frames that are read from another process's memory, whatever that holds.
#include "standing_frames.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <random>

using namespace lotus;

namespace {

constexpr std::uint64_t kBase = 0x10000, kType = 0x10008;

// A few pages of whatever a seed gives, half of it pointers into themselves.
class Noise {
 public:
  explicit Noise(unsigned seed) {
    std::mt19937_64 random(seed);
    for (auto& word : words_) {
      word = random();
      if (word % 2 == 0) word = kBase + random() % (sizeof words_ / 8) * 8;
      if (word % 7 == 0) word = random() % 300;  // a length, say
      if (word % 11 == 0) word = kType;
    }
  }
  bool read(std::uint64_t address, void* to, std::size_t bytes) const {
    if (address < kBase || address - kBase > sizeof words_ || bytes > sizeof words_ - (address - kBase))
      return false;
    std::memcpy(to, reinterpret_cast<const char*>(words_) + (address - kBase), bytes);
    return true;
  }

 private:
  std::uint64_t words_[4096];
};

PythonFrames layout_of(std::uint32_t minor) {
  PythonFrames layout{};
  layout.code_type = kType;
  layout.pointer_mask = ~std::uint64_t{0};
  layout.minor = minor;
  layout.current = 24;
  layout.cframe = -1;
  layout.previous = 8;
  layout.code = 0;
  layout.owner = minor > 11 ? 70 : -1;
  layout.instruction = 56;
  layout.name = 24;
  layout.file = 32;
  layout.line_table = 40;
  layout.first_line = 48;
  layout.instructions = 56;
  layout.text = 40;
  layout.other_text = 56;
  return layout;
}

}  // namespace

TEST_CASE("noise is read within bounds") {
  std::size_t found = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Noise memory(seed);
    for (const std::uint32_t minor : {9u, 10u, 11u, 14u})
      for (std::uint64_t state = 0; state < 200; ++state) {
        const PythonFrames layout = layout_of(minor);
        PythonFrameWalk walk(layout, memory);
        NamedPythonFrame frame;
        if (!walk.begin(kBase + 8 * state)) continue;
        for (int i = 0; i < 8 && walk.next(frame); ++i, ++found) {
          CHECK(std::memchr(frame.name, 0, sizeof frame.name) != nullptr);
          CHECK(std::memchr(frame.file, 0, sizeof frame.file) != nullptr);
        }
      }
  }
  CHECK(found > 0);  // else the noise is too far from frames to test anything
}

TEST_CASE("a process that is not there") {
  const auto standing = collector::standing_frames(0x7ffffff0, layout_of(11), kBase);
  CHECK(standing.frames.empty());
  CHECK(standing.error == ESRCH);
}

TEST_CASE("without a layout nothing is read") {
  const auto standing = collector::standing_frames(0x7ffffff0, {}, kBase);
  CHECK(standing.frames.empty());
  CHECK(standing.error == 0);
}
