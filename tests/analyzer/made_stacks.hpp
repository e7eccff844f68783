// Adds stack samples to hand-made traces: takes names, writes definitions and records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "made_trace.hpp"

namespace lotus::analyzer::test {

inline constexpr std::uint64_t kPeriod = 5'000'000;  // ns of CPU time between samples

// "name|library"; a library that ends in .py makes it a Python function, "!0x" in a name a function without a
// symbol, "_by_code" at its end one that was recognised by its code.
using Frames = std::vector<std::string>;  // outermost first

class MadeStacks {
 public:
  explicit MadeStacks(MadeTrace& trace) : trace_(trace) {}

  // Defines the sampling rate of the process.
  void sampling(std::uint32_t process, std::uint64_t hz = 199) {
    trace_.define<Kind::sampling>(process, at(0), hz, hz == 0 ? 0 : kPeriod, 1);
  }
  void hook(std::uint32_t process, std::uint64_t id, const std::string& name, const std::string& library) {
    trace_.define<Kind::hook>(process, at(0), id, name, library);
  }
  // The id of a stack; writes the definitions that are not in the trace yet.
  std::uint64_t stack(const Frames& frames);
  // The id of a location with inlined functions, innermost first.
  std::uint64_t inlined(const Frames& frames);
  // The id of the stack that adds a location to `parent` (0: an empty stack).
  std::uint64_t child(std::uint64_t parent, std::uint64_t location);

  void sample(std::uint64_t op, std::uint64_t stack, std::uint64_t flags = 0, std::uint64_t weight = 1,
              std::uint64_t tid = 101);
  // What a counter counted up to the last sample.
  void count(std::uint64_t counter, std::uint64_t value, std::uint64_t enabled = 0,
             std::uint64_t running = 0);
  void sample(std::uint64_t op, const Frames& frames) { sample(op, stack(frames)); }
  // Writes the samples since the last flush as a frame of the process.
  void flush(std::uint32_t process, double ms = 100);

 private:
  std::uint64_t binary(const std::string& library);
  std::uint64_t function(const std::string& name);
  std::uint64_t location(const std::string& name);

  MadeTrace& trace_;
  std::map<std::string, std::uint64_t> binaries_, functions_, locations_;
  std::map<std::tuple<std::uint64_t, std::uint64_t>, std::uint64_t> stacks_;
  std::uint64_t next_location_ = 0;
  Bytes body_;
  std::uint32_t samples_ = 0;
};

}  // namespace lotus::analyzer::test
