// The texts of a trace that may be given to others. Fields that are not listed are redacted.
#pragma once

#include <cstdint>
#include <string_view>

namespace lotus::analyzer {

enum class Redaction : std::uint8_t {
  keep,     // names of code, versions, build ids: reports need them
  path,     // a hash for each component
  library,  // a hash for each directory
  text,     // one hash
};

// The policy for a field of a record kind, both by name. `listed`: the field is in the table.
struct Policy {
  Redaction redaction = Redaction::text;
  bool listed = false;
};
Policy policy_of(std::string_view kind, std::string_view field);

}  // namespace lotus::analyzer
