#include "paper/tables/tables.hpp"

namespace lotus::analyzer {
namespace {

constexpr TableKind kTables[] = {
    {"mapping", "I", "the native functions of each operation", mapping_table},
    {"ops", "II", "how long operations take", ops_table},
    {"functions", "IV", "what each profiler sees of an input pipeline", functions_table},
    {"batches", nullptr, "how long batches take to be made", batches_table},
    {"waits", nullptr, "waits and delays", waits_table},
    {"counters", nullptr, "counters of native functions, split over operations", counters_table},
};

std::string_view arabic(std::string_view number) {
  constexpr std::pair<std::string_view, std::string_view> kNumbers[] = {{"1", "I"}, {"2", "II"}, {"4", "IV"}};
  for (const auto& [digit, roman] : kNumbers)
    if (digit == number) return roman;
  return number;
}

}  // namespace

std::span<const TableKind> table_kinds() { return kTables; }

const TableKind* find_table(std::string_view name) {
  for (const auto& kind : kTables)
    if (name == kind.name || (kind.number != nullptr && arabic(name) == kind.number)) return &kind;
  return nullptr;
}

}  // namespace lotus::analyzer
