// The files that were embedded into the program when it was built.
#pragma once

#include <string_view>

namespace lotus::analyzer {

// Content of "page.html", "style.css", "script.js", "d3.min.js" or "d3-licence.txt"; empty: no such part.
std::string_view part_named(std::string_view name);

}  // namespace lotus::analyzer
