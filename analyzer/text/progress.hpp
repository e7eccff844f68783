// Progress of long work, shown on terminals only.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace lotus::analyzer {

class Progress {
 public:
  // `total` bytes will be read of the file `name`.
  Progress(std::string_view name, std::uint64_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Wipes the line.
  ~Progress();

  // Shows that `done` bytes are read; at most a few times a second, and not before half a second.
  void update(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  std::string name_;
  std::uint64_t total_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace lotus::analyzer
