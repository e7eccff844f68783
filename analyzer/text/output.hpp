// Where a command writes: standard output or a file.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace lotus::analyzer {

class Output {
 public:
  // Standard output.
  Output();
  // A file, replaced if it exists; "-" is standard output. Throws Unusable if it cannot be created. Devices
  // and FIFOs are written directly. Any other file appears when close() returns: until then a file of that
  // name stays unchanged, and after an error the partial output is removed.
  explicit Output(const std::string& path);
  // The same; unless `replace`, a file that exists is left as it is, and WrongUsage thrown.
  Output(const std::string& path, bool replace);
  // The same; only the user can read the file, as with recorded traces.
  static Output of_owner(const std::string& path, bool replace);
  // The same; who may read the file `original` may read this one, and nobody else.
  static Output like(const std::string& original, const std::string& path, bool replace);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  // Throws Unusable when it cannot be written, as on a full disk.
  void write(std::string_view text);
  // Writes what is buffered; call it at the end, so that errors are seen.
  void close();
  std::FILE* file() const { return file_; }

 private:
  Output(const std::string& path, bool replace, unsigned mode);
  [[noreturn]] void fail(int error) const;

  std::string name_;
  std::FILE* file_;
  bool owned_;
  std::string target_;   // where the output belongs; of devices and standard output: none
  std::string written_;  // where it is written until it is complete
};

}  // namespace lotus::analyzer
