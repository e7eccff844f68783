#include "commands/trace_copy.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {

void refuse_onto_itself(const std::string& trace, const std::string& output, const char* done) {
  std::error_code ignored;
  if (std::filesystem::equivalent(trace, output, ignored))
    throw WrongUsage(fmt::format("{}: a trace cannot be {} onto itself; name another file with -o",
                                 escaped(output), done));
}

void refuse_onto_itself(const std::vector<std::string>& traces, const std::string& output, const char* done) {
  for (const auto& trace : traces) refuse_onto_itself(trace, output, done);
}

void tell_of_copy(const std::string& output, const std::string& text) {
  std::FILE* const to = output == "-" ? stderr : stdout;
  if (std::fputs(text.c_str(), to) < 0 || std::fflush(to) != 0)
    throw Unusable("standard output: cannot be written");
}

}  // namespace lotus::analyzer
