#include "paper/split/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/input.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kForm =
    R"({"op_to_func": {op: ["function|library", …]}, "common_funcs_to_op": {"function|library": [op, …]}})";

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Unusable(fmt::format("{}: {}; expected {}", escaped(path), what, kForm));
}

// Ordered objects copy their values when they grow, and that recurses at each bracket.
constexpr int kDeepest = 100;

Json parse(const std::string& path) {
  const std::string text = read_text(path, "a mapping file");
  try {
    return Json::parse(text, [&](int depth, Json::parse_event_t, Json&) {
      if (depth > kDeepest) fail(path, "has too many brackets inside each other");
      return true;
    });
  } catch (const Json::parse_error& error) {
    throw Unusable(fmt::format("{}: byte {}: is no JSON; expected {}", escaped(path), error.byte, kForm));
  } catch (const Json::exception&) {  // out_of_range is no parse_error
    fail(path, "holds a number that is too large");
  }
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  std::vector<MappedFunction> read() {
    const Json root = parse(path_);
    if (!root.is_object() || !root.contains("op_to_func")) fail(path_, "has no op_to_func");
    section(root, "op_to_func",
            [&](const std::string& op, const std::string& function) { add(op, function); });
    if (root.contains("common_funcs_to_op"))
      section(root, "common_funcs_to_op",
              [&](const std::string& function, const std::string& op) { add(op, function); });
    return std::move(mapped_);
  }

 private:
  template <class Each>
  void section(const Json& root, const char* name, Each each) {
    const Json& object = root[name];
    if (!object.is_object()) fail(path_, fmt::format("{} is no object", name));
    for (const auto& [key, list] : object.items()) {
      if (!list.is_array()) fail(path_, fmt::format("{}[{}] is no list", name, escaped(key)));
      for (const Json& value : list) {
        if (!value.is_string()) fail(path_, fmt::format("{}[{}] holds what is no text", name, escaped(key)));
        each(key, value.get<std::string>());
      }
    }
  }

  void add(const std::string& op, const std::string& function) {
    const std::size_t bar = function.rfind('|');
    if (bar == function.npos || bar == 0)
      fail(path_, fmt::format("'{}' of {} names no function and library", escaped(function), escaped(op)));
    MappedFunction one{op, function.substr(0, bar), function.substr(bar + 1)};
    if (std::find(mapped_.begin(), mapped_.end(), one) == mapped_.end()) mapped_.push_back(std::move(one));
  }

  const std::string& path_;
  std::vector<MappedFunction> mapped_;
};

}  // namespace

std::vector<MappedFunction> read_mapping(const std::string& path) { return Reader(path).read(); }

Json mapping_json(const std::vector<MappedFunction>& mapped) {
  Json op_to_func = Json::object();
  std::map<std::string, Json> ops_of;
  for (const auto& [op, function, library] : mapped) {
    const std::string name = fmt::format("{}|{}", function, library);
    op_to_func[op].push_back(name);
    ops_of[name].push_back(op);
  }
  Json common = Json::object();
  for (const auto& [name, ops] : ops_of)
    if (ops.size() > 1) common[name] = ops;
  return {{"op_to_func", op_to_func}, {"common_funcs_to_op", common}};
}

std::vector<std::string> unknown_ops(const std::vector<MappedFunction>& mapped,
                                     const std::set<std::string>& known) {
  std::vector<std::string> unknown;
  for (const auto& one : mapped)
    if (!known.contains(one.op) && std::find(unknown.begin(), unknown.end(), one.op) == unknown.end())
      unknown.push_back(one.op);
  return unknown;
}

}  // namespace lotus::analyzer
