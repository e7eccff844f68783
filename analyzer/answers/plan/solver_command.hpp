// Runs an installed solver of integer programs, cbc or highs, on a model.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "answers/plan/search.hpp"

namespace lotus::analyzer::memory_plan {

enum class SolverKind { cbc, highs };

constexpr const char* name_of(SolverKind kind) { return kind == SolverKind::cbc ? "cbc" : "highs"; }

// The program in PATH; nullopt: there is none.
std::optional<std::string> find_solver(SolverKind kind);

struct SolverAnswer {
  std::string trouble{};  // empty: `columns` are what it found. Else why there is nothing, in words
  std::map<std::string, double> columns{};  // those that are not 0
  bool optimal = false;                     // by its own word, within the gap that was asked for
  double objective = 0;                     // by its own word
};

// Runs `program` without a shell in a directory of its own under $TMPDIR, which is removed whatever happens,
// and ends it when it takes longer than its limit and a grace of 10 s, or a signal asks lotus-analyze to end.
// Its answer is text of somebody else's program: a caller must check what it says.
SolverAnswer run_solver(SolverKind kind, const std::string& program, const std::string& model,
                        const Effort& effort);

// The solution files of both, for the tests.
SolverAnswer parse_cbc(const std::string& text);
SolverAnswer parse_highs(const std::string& text);

}  // namespace lotus::analyzer::memory_plan
