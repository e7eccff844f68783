// The mapping file of the research system: which native functions each operation runs.
//
//   {"op_to_func": {"Loader": ["decode_mcu|libjpeg.so.9", …], …},
//    "common_funcs_to_op": {"function|library": ["Loader", …], …}}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "reading/trace/imported.hpp"

namespace lotus::analyzer {

// Reads the file; each pair of function and operation once, in the file's order. Throws Unusable, naming the
// place, when it is not of this form.
std::vector<MappedFunction> read_mapping(const std::string& path);

// The same, written.
nlohmann::ordered_json mapping_json(const std::vector<MappedFunction>& mapped);

// The operations of the mapping that are not among `known`, each once.
std::vector<std::string> unknown_ops(const std::vector<MappedFunction>& mapped,
                                     const std::set<std::string>& known);

}  // namespace lotus::analyzer
