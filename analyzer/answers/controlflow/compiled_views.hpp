// What `control-flow` shows of torch.compile.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "answers/controlflow/compiled.hpp"
#include "answers/controlflow/times.hpp"
#include "text/table.hpp"

namespace lotus::analyzer::controlflow {

// `of_call`: what a call takes.
std::vector<std::string> compiled_findings(const CompiledAnswer& answer, const Parts& of_call);
std::string compiled_summary(const CompiledAnswer& answer, const Parts& of_call);
Table graph_break_table(const CompiledAnswer& answer, std::size_t rows);
Table compiled_function_table(const CompiledAnswer& answer, std::size_t rows);
// null: nothing was compiled.
nlohmann::ordered_json compilation_json(const CompiledAnswer& answer, const Parts& of_call);

}  // namespace lotus::analyzer::controlflow
