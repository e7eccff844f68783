#include "care/redact/policy.hpp"

namespace lotus::analyzer {
namespace {

struct Row {
  std::string_view kind, field;
  Redaction redaction;
};

constexpr Row kRows[] = {
    {"path", "suffix", Redaction::path},
    {"dataset_call", "name", Redaction::keep},
    {"process", "python", Redaction::keep},
    {"process", "program", Redaction::text},
    {"process", "arguments", Redaction::text},
    {"process", "directory", Redaction::path},
    {"process", "host", Redaction::text},
    {"process", "torch", Redaction::keep},
    {"architecture", "name", Redaction::keep},
    {"thread", "name", Redaction::text},  // by default, the name of the program
    {"op_def", "name", Redaction::keep},
    {"op_def", "qualified", Redaction::keep},
    {"op_def", "file", Redaction::path},
    {"loader", "dataset", Redaction::keep},
    {"loader", "sampler", Redaction::keep},
    {"other_loader", "library", Redaction::keep},
    {"loader_place", "variable", Redaction::keep},
    {"loader_place", "file", Redaction::path},
    {"module", "path", Redaction::library},
    {"module", "build_id", Redaction::keep},
    {"code", "name", Redaction::keep},
    {"code", "file", Redaction::path},
    {"hook", "name", Redaction::keep},
    {"hook", "library", Redaction::library},
    {"configuration", "name", Redaction::text},  // of a directory, as a rule
    {"mapped", "op", Redaction::keep},
    {"mapped", "function", Redaction::keep},
    {"mapped", "library", Redaction::library},
    {"counter", "function", Redaction::keep},
    {"counter", "library", Redaction::library},
    {"counter", "name", Redaction::keep},
    {"counter", "value", Redaction::keep},
    {"counting", "name", Redaction::keep},
    {"processor", "vendor", Redaction::keep},
    {"tried", "settings", Redaction::keep},
    {"tried", "instead", Redaction::keep},
    {"tried", "refused", Redaction::keep},
    {"binary", "path", Redaction::library},
    {"binary", "build_id", Redaction::keep},
    {"function", "name", Redaction::keep},
    {"function", "file", Redaction::path},
    {"reopened", "path", Redaction::path},
    {"standing", "function", Redaction::keep},
    {"standing", "file", Redaction::path},
    {"python_code", "name", Redaction::keep},
    {"python_code", "file", Redaction::path},
    {"graph_break", "function", Redaction::keep},
    {"graph_break", "file", Redaction::path},
    {"graph_break", "reason", Redaction::text},  // quotes the program's values
    {"compilation", "function", Redaction::keep},
    {"compilation", "file", Redaction::path},
    {"compilation", "why", Redaction::text},
    {"compilation", "failed", Redaction::text},
    {"code_table", "bytecode", Redaction::keep},
    {"code_table", "lines", Redaction::keep},
    {"code_table", "names", Redaction::keep},
    {"code_table", "exceptions", Redaction::keep},
    {"tensor_form", "sizes", Redaction::keep},
    {"no_steps", "reason", Redaction::keep},
};

}  // namespace

Policy policy_of(std::string_view kind, std::string_view field) {
  for (const Row& row : kRows)
    if (row.kind == kind && row.field == field) return {row.redaction, true};
  return {};
}

}  // namespace lotus::analyzer
