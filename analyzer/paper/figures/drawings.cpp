#include "paper/figures/drawings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "paper/figures/draw.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {

namespace fs = std::filesystem;

std::string draw_into(const std::string& directory, const std::vector<Drawing>& drawings, bool replace) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!fs::is_directory(directory, error))
    throw Unusable(
        fmt::format("{}: is no directory and cannot be made; name another one", escaped(directory)));
  const auto file = [&](const Drawing& drawing, const char* suffix) {
    return (fs::path(directory) / (drawing.file + suffix)).string();
  };
  std::vector<std::string> files;
  for (const Drawing& drawing : drawings) {
    for (const char* suffix : {".csv", ".svg", ".png"}) {
      const std::string name = file(drawing, suffix);
      if (!replace && fs::exists(name, error))
        throw WrongUsage(
            fmt::format("{}: exists; give --force to replace it, or another directory", escaped(name)));
      files.push_back(escaped(name));
    }
  }
  for (const Drawing& drawing : drawings) {
    const std::string data = file(drawing, ".csv");
    Output csv(data, replace);
    csv.write(drawing.table.csv());
    csv.close();
    draw_figure(drawing.number, drawing.title, data, {file(drawing, ".svg"), file(drawing, ".png")});
  }
  return fmt::format("{}", fmt::join(files, ", "));
}

}  // namespace lotus::analyzer
