// Which texts of a trace may be given to others. What is not listed is not.
#pragma once

#include <cstdint>
#include <string_view>

namespace lotus::analyzer {

enum class Redaction : std::uint8_t {
  keep,     // names of code, versions, build ids: what reports are about
  path,     // a hash for each component
  library,  // a hash for each directory
  text,     // one hash
};

// Of a field of a record kind, both by name. `listed`: somebody decided about it.
struct Policy {
  Redaction redaction = Redaction::text;
  bool listed = false;
};
Policy policy_of(std::string_view kind, std::string_view field);

}  // namespace lotus::analyzer
