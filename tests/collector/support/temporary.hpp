// A temporary directory for each test case, and small file helpers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lotus::test {

// Made with mode 0700 under $TMPDIR or /tmp, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

std::string read_text(const std::string& path);  // empty if it cannot be read
void write_text(const std::string& path, std::string_view text);
bool exists(const std::string& path);  // also a dangling symlink does
std::vector<std::string> list(const std::string& directory);

// Runs `condition` every few ms until it holds or `seconds` have passed; returns whether it held.
template <class Condition>
bool eventually(Condition condition, double seconds = 20);

void sleep_ms(unsigned milliseconds);

template <class Condition>
bool eventually(Condition condition, double seconds) {
  for (int i = 0; i < static_cast<int>(seconds * 200); ++i) {
    if (condition()) return true;
    sleep_ms(5);
  }
  return condition();
}

}  // namespace lotus::test
