#include "showing/html/parts.hpp"

// Made by `ld -r -b binary`: each file lies between two symbols that are named after it.
// clang-format off
#define LOTUS_PARTS(PART)                  \
  PART("page.html", page_html)             \
  PART("style.css", style_css)             \
  PART("script.js", script_js)             \
  PART("d3.min.js", d3_min_js)             \
  PART("d3-licence.txt", d3_licence_txt)
// clang-format on

#define LOTUS_DECLARE(part, symbol) \
  extern "C" const char _binary_##symbol##_start[], _binary_##symbol##_end[];
LOTUS_PARTS(LOTUS_DECLARE)
#undef LOTUS_DECLARE

namespace lotus::analyzer {

std::string_view part_named(std::string_view name) {
#define LOTUS_FIND(part, symbol) \
  if (name == part) return {_binary_##symbol##_start, _binary_##symbol##_end};
  LOTUS_PARTS(LOTUS_FIND)
#undef LOTUS_FIND
  return {};
}

}  // namespace lotus::analyzer
