// Diagnostics: one line each, written with one write(2).
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "fd.hpp"

namespace lotus::collector {

class Log {
 public:
  enum class Where { standard_error, nowhere };

  // `file`: path to append to; empty: `where`. If the file cannot be opened, standard error says so.
  // `quiet`: only errors are written.
  Log(const std::string& file, Where where, bool quiet);

  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    line("lotus-collector: " + fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    if (!quiet_) line("lotus-collector: " + fmt::format(format, std::forward<Args>(args)...));
  }
  // As error() and note(), but the same text is written only once in the life of this log.
  void error_once(const std::string& text);
  void note_once(const std::string& text);
  // The result for a closed trace: the one line that a user looks for.
  void result(std::string_view text);

  // True if lines go to a terminal where a progress line may be rewritten.
  bool shows_progress() const { return progress_allowed_; }
  // Replaces the progress line; empty: removes it.
  void progress(std::string_view text);

 private:
  void line(std::string text);
  bool is_new(const std::string& text);

  Fd file_;
  int target_ = -1;  // negative: nowhere
  bool quiet_ = false;
  bool progress_allowed_ = false;
  bool progress_shown_ = false;
  std::set<std::string> said_;
};

}  // namespace lotus::collector
