// Stacks that are unwound from registers, stack bytes and files equal gdb's backtraces, frame by frame.
#include <doctest/doctest.h>

#include <cstdio>
#include <map>

#include "gdb/gdb_stops.hpp"
#include "stacks/unwinder.hpp"

using namespace lotus;
using namespace lotus::collector;
using namespace lotus::test;

namespace {

// gdb's frames as common addresses; a return address is moved back by 1, into its call.
std::vector<std::uint64_t> frames_of(const GdbStop& stop, const Modules& modules) {
  std::vector<std::uint64_t> frames;
  for (std::size_t i = 0; i < stop.pcs.size(); ++i) {
    const std::uint64_t pc = stop.pcs[i] - (i > 0 ? 1 : 0);
    frames.push_back(modules.translate(pc).value_or(pc));
  }
  return frames;
}

std::string text_of(const std::vector<std::uint64_t>& frames, Binaries& binaries) {
  std::string text;
  for (const std::uint64_t frame : frames) {
    char line[512];
    std::snprintf(line, sizeof line, "  %s+%#lx\n",
                  is_common(frame) ? binaries.info(binary_of(frame)).path.c_str() : "?", offset_of(frame));
    text += line;
  }
  return text;
}

struct Compared {
  std::size_t frames = 0, whole = 0, cut = 0, outside = 0;
  std::map<std::string, int> innermost;  // number of stops by interrupted library
};

void compare(const GdbStop& stop, Binaries& binaries, Unwinder& unwinder, Compared& compared) {
  Modules modules(binaries);
  stop.define(modules);
  modules.look_at(1);
  const Unwound& unwound = unwinder.unwind(stop.snapshot, modules);
  std::vector<std::uint64_t> ours;
  for (const NativeFrame& frame : unwound.frames) ours.push_back(frame.address);
  std::vector<std::uint64_t> theirs = frames_of(stop, modules);
  REQUIRE(!ours.empty());
  if (!is_common(ours[0])) {  // in the vDSO or generated code: stops list mappings of files only
    ++compared.outside;
    CHECK(ours == std::vector{theirs.at(0)});
    return;
  }
  ++compared.innermost[binaries.info(binary_of(ours[0])).path];
  if (unwound.cut) {
    // For a function without unwind information gdb guesses its caller; we cut the stack.
    ++compared.cut;
    CHECK_FALSE(unwinder.function_at(binary_of(ours.back()), offset_of(ours.back())));
    REQUIRE(theirs.size() >= ours.size());
    theirs.resize(ours.size());
  } else {
    ++compared.whole;
  }
  compared.frames += ours.size();
  CAPTURE(text_of(ours, binaries));
  CAPTURE(text_of(theirs, binaries));
  CHECK((ours == theirs));
}

int stops_in(const Compared& compared, const std::string& library) {
  int stops = 0;
  for (const auto& [path, count] : compared.innermost)
    if (path.find(library) != std::string::npos) stops += count;
  return stops;
}

}  // namespace

TEST_CASE("libjpeg, Pillow, NumPy and libtorch code, interrupted anywhere") {
  std::string said;
  const auto stops = run_under_gdb(said);
  if (stops.empty()) {
    MESSAGE("skipped: gdb cannot run a program here: ", said);
    return;
  }
  Binaries binaries;
  Unwinder unwinder(binaries);
  Compared compared;
  for (const GdbStop& stop : stops) compare(stop, binaries, unwinder, compared);
  for (const auto& [path, count] : compared.innermost) MESSAGE(count, " stops in ", path);
  MESSAGE(compared.frames, " frames equal; ", compared.whole, " stacks to their end, ", compared.cut,
          " cut, ", compared.outside, " outside of files");
  CHECK(stops.size() >= 40);
  CHECK(compared.whole > stops.size() / 2);
  for (const char* library : {"libjpeg", "_imaging", "_multiarray_umath", "libtorch_cpu"}) {
    CAPTURE(library);
    CHECK(stops_in(compared, library) > 0);
  }
}
