// The log files of an export: many, of which few are written to at a time.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lotus::analyzer::lotustrace {

class LogWriter {
 public:
  // Files are made below `directory`, which is made if it is missing. Throws Unusable if it holds files
  // already.
  explicit LogWriter(std::string directory);

  // Appends to a file, `name` with its directories relative to ours.
  void write(const std::string& name, std::string_view text);
  // Writes what is buffered. Throws Unusable when it cannot be written, as write() does.
  void close();

  std::size_t files() const { return buffers_.size(); }

 private:
  void flush(const std::string& name, std::string& buffer);

  std::string directory_;
  std::map<std::string, std::string> buffers_;  // by name; a file exists once its buffer was flushed
};

}  // namespace lotus::analyzer::lotustrace
