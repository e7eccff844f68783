// What a code calls, by its instructions and by the names that stand on their lines.
#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "answers/controlflow/code_flow.hpp"

namespace lotus::analyzer::controlflow {
namespace {

// Opcodes of 3.9 and 3.10, in pairs from one to another: BINARY_… and INPLACE_…, but BINARY_SUBSCR.
constexpr std::uint8_t kOperations[][2] = {{16, 17}, {19, 20}, {22, 24}, {26, 29},
                                           {55, 57}, {59, 59}, {62, 67}, {75, 79}};
constexpr std::uint8_t kBinaryOp[] = {122, 122, 45, 44, 42};  // BINARY_OP of 3.11 to 3.15
constexpr std::uint8_t kSubscript = 26;                       // its argument from 3.14 on for x[i]

constexpr std::uint8_t kPrecall = 166;  // of 3.11

// CALL_FUNCTION, …_KW, …_EX, CALL_METHOD; CALL, CALL_FUNCTION_EX; the same and CALL_KW.
constexpr std::uint8_t kCalls[][4] = {{131, 141, 142, 161}, {131, 141, 142, 161}, {171, 142, 0, 0},
                                      {171, 142, 0, 0},     {53, 54, 57, 0},      {52, 4, 55, 0},
                                      {50, 4, 53, 0}};
// LOAD_GLOBAL, LOAD_ATTR, LOAD_METHOD, LOAD_NAME, EXTENDED_ARG, by `dis`. 0: there is none.
struct Loads {
  std::uint8_t global, attribute, method, name, extended;
};
constexpr Loads kLoads[] = {{116, 106, 160, 101, 144}, {116, 106, 160, 101, 144}, {116, 106, 160, 101, 144},
                            {116, 106, 0, 101, 144},   {91, 82, 0, 92, 71},       {92, 80, 0, 93, 69},
                            {91, 79, 0, 92, 67}};
static_assert(std::size(kBinaryOp) == kNewestMinor - 11 + 1 &&
              std::size(kCalls) == kNewestMinor - kOldestMinor + 1 && std::size(kLoads) == std::size(kCalls));

// Of Python's library and PyTorch, written in C: they call functions, or go through generators, that they are
// given.
constexpr std::string_view kCallBack[] = {"accumulate", "all",
                                          "any",        "apply_",
                                          "array",      "deque",
                                          "dict",       "extend",
                                          "filter",     "filterfalse",
                                          "frozenset",  "from_iterable",
                                          "groupby",    "index",
                                          "join",       "list",
                                          "map",        "map_",
                                          "max",        "min",
                                          "next",       "nlargest",
                                          "nsmallest",  "product",
                                          "reduce",     "run_until_complete",
                                          "send",       "set",
                                          "sort",       "sorted",
                                          "starmap",    "sum",
                                          "takewhile",  "dropwhile",
                                          "tuple",      "update"};

bool calls_back(std::string_view name) {
  return std::find(std::begin(kCallBack), std::end(kCallBack), name) != std::end(kCallBack);
}

std::vector<std::string_view> split(std::string_view names) {
  std::vector<std::string_view> all;
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find('\n', begin), names.size());
    all.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

}  // namespace

void CodeFlow::find_names(unsigned minor, const CodeTable& table) {
  const std::vector<std::string_view> names = split(table.names);
  const bool any_calls_back = std::any_of(names.begin(), names.end(), calls_back);
  const Loads& loads = kLoads[minor - kOldestMinor];
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const std::size_t at = code_[i].offset;
    const auto opcode = static_cast<std::uint8_t>(table.bytecode[at]);
    std::size_t name = static_cast<std::uint8_t>(table.bytecode[at + 1]);
    NamesOfLine& line = names_[lines_[i]];
    // Behind EXTENDED_ARG stands a name that is far behind, and may be any.
    line.may_call_back = line.may_call_back || names.empty() || (any_calls_back && opcode == loads.extended);
    const bool is_global = opcode == loads.global, is_attribute = opcode == loads.attribute;
    if (!is_global && !is_attribute && opcode != loads.method && opcode != loads.name) continue;
    if ((is_global && minor >= 11) || (is_attribute && minor >= 12)) name >>= 1;
    if (name >= names.size()) continue;
    if (calls_back(names[name]))
      line.call_back.emplace(names[name]);
    else
      line.others.emplace(names[name]);
  }
}

void CodeFlow::find_operations(unsigned minor, const CodeTable& table) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(table.bytecode[at]); };
  const auto is_one = [&](const Instruction& at) {
    const std::uint8_t opcode = byte(at.offset);
    if (minor >= 11) return opcode == kBinaryOp[minor - 11] && byte(at.offset + 1) != kSubscript;
    return std::any_of(std::begin(kOperations), std::end(kOperations),
                       [&](const auto& range) { return range[0] <= opcode && opcode <= range[1]; });
  };
  const std::span<const std::uint8_t> calls = kCalls[minor - kOldestMinor];
  operations_.clear();
  calls_.clear();
  precalls_.clear();
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const std::uint8_t opcode = byte(code_[i].offset);
    operations_.push_back(is_one(code_[i]));
    precalls_.push_back(minor == 11 && opcode == kPrecall);
    // A call with more than 255 arguments begins with EXTENDED_ARG, and is none here.
    calls_.push_back(opcode != 0 && std::find(calls.begin(), calls.end(), opcode) != calls.end());
  }
  find_names(minor, table);
}

// A specialised PRECALL of 3.11 does what the CALL behind it does before it is specialised, and skips that.
std::size_t CodeFlow::doer_at(std::uint64_t offset) const {
  const std::size_t at = instruction_at(code_, offset);
  return at != kNone && precalls_[at] && at + 1 < code_.size() && calls_[at + 1] ? at + 1 : at;
}

bool CodeFlow::calls_one(std::size_t instruction) const {
  if (!calls_[instruction]) return false;
  const NamesOfLine& names = names_.at(lines_[instruction]);
  return !names.may_call_back && names.call_back.empty();
}

bool CodeFlow::calls_one_of(std::size_t instruction, const std::string& name) const {
  if (!calls_[instruction]) return false;
  const NamesOfLine& names = names_.at(lines_[instruction]);
  const bool called_back = names.call_back.contains(name);
  return !names.may_call_back && names.call_back.size() == (called_back ? 1 : 0) &&
         (called_back || names.others.contains(name));
}

}  // namespace lotus::analyzer::controlflow
