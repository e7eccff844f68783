// The report of `recover`: the contents of the recovered trace, and the losses.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "care/recover/contents.hpp"
#include "care/recover/rebuild.hpp"

namespace lotus::analyzer {

// Keys: see the manual page of lotus-analyze.
nlohmann::ordered_json account_json(const Source& source, const std::string& output, const Contents& contents,
                                    const Rebuilt& rebuilt);
// The same for people, from the JSON.
std::string account_text(const nlohmann::ordered_json& account);

}  // namespace lotus::analyzer
