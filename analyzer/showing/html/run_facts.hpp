// Facts about the run: programs, machines and versions.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reading/model/reading.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// {"file", "bytes", "format", "created_ns", "clock", "processes", "programs": [...], "damage": [...]}: of the
// processes only those that are no DataLoader workers, each with its command line, versions and machine.
nlohmann::ordered_json run_facts(const Trace& trace, const Reading& reading);

}  // namespace lotus::analyzer
