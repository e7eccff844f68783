#include "answers/plan/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/input.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

using Value = nlohmann::json;

constexpr std::uint64_t kMostBytes = 1ull
                                     << 53;  // of all storages together: what JSON's numbers hold exactly
constexpr double kMostSeconds = 1e9;

[[noreturn]] void refuse(const std::string& place, const std::string& problem) {
  throw Unusable(fmt::format("{}: {}; docs/memory-plan.md has the form of steps", place, problem));
}

// A JSON object, with where it stands in the file.
class Object {
 public:
  Object(const Value& value, std::string place, std::initializer_list<const char*> keys)
      : value_(value), place_(std::move(place)) {
    if (!value.is_object()) refuse(place_, "must be an object");
    for (const auto& [key, inner] : value.items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        refuse(place_, fmt::format("{} is no key here; there are {}", escaped(key), fmt::join(keys, ", ")));
  }

  const std::string& place() const { return place_; }

  std::uint64_t integer(const char* key, std::optional<std::uint64_t> otherwise = {}) const {
    const Value* found = find(key, otherwise.has_value());
    if (found == nullptr) return *otherwise;
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() > kMostBytes)
      refuse(at(key), fmt::format("must be an integer from 0 to {}", kMostBytes));
    return found->get<std::uint64_t>();
  }

  double seconds(const char* key) const {
    const Value* found = find(key, false);
    const double value = found->is_number() ? found->get<double>() : -1;
    if (!(value >= 0 && value <= kMostSeconds)) refuse(at(key), "must be a number of seconds, 0 or more");
    return value;
  }

  bool flag(const char* key) const {
    const Value* found = find(key, true);
    if (found == nullptr) return false;
    if (!found->is_boolean()) refuse(at(key), "must be true or false");
    return found->get<bool>();
  }

  std::string text(const char* key, std::optional<std::string> otherwise = {}) const {
    const Value* found = find(key, otherwise.has_value());
    if (found == nullptr) return *otherwise;
    if (!found->is_string()) refuse(at(key), "must be a text");
    return found->get<std::string>();
  }

  const Value& list(const char* key) const {
    const Value* found = find(key, false);
    if (!found->is_array()) refuse(at(key), "must be a list");
    return *found;
  }

  std::string at(const char* key) const { return place_ + "." + key; }
  std::string at(const char* key, std::size_t index) const {
    return fmt::format("{}.{}[{}]", place_, key, index);
  }

 private:
  const Value* find(const char* key, bool may_miss) const {
    const auto found = value_.find(key);
    if (found != value_.end()) return &*found;
    if (!may_miss) refuse(place_, fmt::format("has no {}", key));
    return nullptr;
  }

  const Value& value_;
  std::string place_;
};

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(escaped(file)) {}

  Input read(const std::string& text) {
    Value document;
    try {
      document = Value::parse(text);
    } catch (const Value::parse_error& error) {
      refuse(file_, fmt::format("is no JSON: {}", escaped(error.what())));
    }
    const Object whole(document, file_ + ", the whole", {"steps"});
    const Value& steps = whole.list("steps");
    for (std::size_t i = 0; i < steps.size(); ++i)
      input_.steps.push_back(step(steps[i], fmt::format("{}, steps[{}]", file_, i), i));
    return std::move(input_);
  }

 private:
  memory::Step step(const Value& value, const std::string& place, std::size_t index) {
    const Object object(value, place, {"number", "operators", "storages"});
    memory::Step step;
    step.number = object.integer("number", index);
    const Value& operators = object.list("operators");
    const Value& storages = object.list("storages");
    for (std::size_t i = 0; i < storages.size(); ++i)
      step.storages.push_back(storage(storages[i], object.at("storages", i), operators.size()));
    for (std::size_t i = 0; i < operators.size(); ++i) {
      step.operators.push_back(op(operators[i], object.at("operators", i), storages.size()));
      for (const auto& operand : step.operators.back().operands)
        step.storages[operand.storage].uses.push_back(i);
    }
    check(step, place);
    return step;
  }

  memory::Storage storage(const Value& value, const std::string& place, std::size_t operators) {
    const Object object(value, place, {"bytes", "born", "released", "older", "survives", "place"});
    memory::Storage storage;
    storage.bytes = object.integer("bytes");
    storage.older = object.flag("older");
    storage.survives = object.flag("survives");
    storage.born = object.integer("born", storage.older ? std::optional<std::uint64_t>(0) : std::nullopt);
    storage.released =
        object.integer("released", storage.survives ? std::optional<std::uint64_t>(operators) : std::nullopt);
    if (!storage.older && storage.born < operators) storage.maker = storage.born;
    storage.place = source(object);
    return storage;
  }

  memory::Operator op(const Value& value, const std::string& place, std::size_t storages) {
    const Object object(value, place, {"name", "phase", "seconds", "place", "workspace", "operands"});
    memory::Operator op;
    op.name = object.text("name");
    op.phase = phase(object);
    op.seconds = object.seconds("seconds");
    op.workspace = object.integer("workspace", 0);
    op.place = source(object);
    const Value& operands = object.list("operands");
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Object inner(operands[i], object.at("operands", i), {"storage", "read", "written"});
      op.operands.push_back({inner.integer("storage"), inner.flag("read"), inner.flag("written")});
      if (op.operands.back().storage >= storages)
        refuse(inner.at("storage"), fmt::format("must be less than {}, the number of storages", storages));
    }
    return op;
  }

  static memory::Phase phase(const Object& object) {
    const std::string name = object.text("phase", "forward");
    if (name == "forward") return memory::Phase::forward;
    if (name == "backward") return memory::Phase::backward;
    if (name == "optimizer") return memory::Phase::optimizer;
    refuse(object.at("phase"), "must be forward, backward or optimizer");
  }

  // "train.py:12", kept once.
  std::uint64_t source(const Object& object) {
    const std::string text = object.text("place", "");
    if (text.empty()) return 0;
    const std::size_t colon = text.rfind(':');
    std::uint64_t line = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = colon == std::string::npos
                                   ? std::from_chars_result{end, std::errc::invalid_argument}
                                   : std::from_chars(text.data() + colon + 1, end, line);
    if (error != std::errc() || stop != end) refuse(object.at("place"), "must be FILE:LINE, as train.py:12");
    const auto [known, added] = numbers_.emplace(text, numbers_.size() + 1);
    if (added) input_.places[known->second] = {text.substr(0, colon), line};
    return known->second;
  }

  std::string file_;
  Input input_;
  std::map<std::string, std::uint64_t> numbers_;
};

std::vector<std::string> names_of(const memory::Step& step) {
  std::vector<std::string> names;
  names.reserve(step.operators.size());
  for (const auto& op : step.operators) names.push_back(op.name);
  return names;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

void check(const memory::Step& step, const std::string& name) {
  const std::size_t end = step.operators.size();
  const auto storage_name = [&](std::size_t i) { return fmt::format("{}.storages[{}]", name, i); };
  std::uint64_t bytes = 0;
  if (end == 0) refuse(name, "has no operators");
  for (std::size_t i = 0; i < step.storages.size(); ++i) {
    const auto& storage = step.storages[i];
    bytes += std::min(storage.bytes, kMostBytes);
    if (bytes > kMostBytes)
      refuse(storage_name(i), fmt::format("all storages together pass {} bytes", kMostBytes));
    if (storage.born > storage.released || storage.released > end)
      refuse(storage_name(i), fmt::format("must have born ≤ released ≤ {}, the number of operators", end));
    if (storage.older && storage.born != 0) refuse(storage_name(i), "is older than the step: born must be 0");
    if (storage.survives && storage.released != end)
      refuse(storage_name(i), fmt::format("survives the step: released must be {}", end));
    for (const std::size_t use : storage.uses)
      if (use < storage.born || use >= storage.released)
        refuse(storage_name(i), fmt::format("is used by operator {}, at which it is not there", use));
  }
  std::vector<std::vector<std::size_t>> uses(step.storages.size());
  for (std::size_t k = 0; k < end; ++k) {
    const std::string op_name = fmt::format("{}.operators[{}]", name, k);
    for (const auto& operand : step.operators[k].operands) {
      if (operand.storage >= uses.size())
        refuse(op_name, fmt::format("has storage {} of {}", operand.storage, uses.size()));
      auto& known = uses[operand.storage];
      if (!known.empty() && known.back() == k)
        refuse(op_name, fmt::format("has storage {} twice; join both operands", operand.storage));
      known.push_back(k);
    }
    if (step.operators[k].workspace > kMostBytes)
      refuse(op_name + ".workspace", fmt::format("must be at most {}", kMostBytes));
  }
  for (std::size_t i = 0; i < step.storages.size(); ++i)
    if (step.storages[i].uses != uses[i])
      refuse(storage_name(i), "has other uses than the operators have operands");
}

Input read_steps(const std::string& file) { return Reader(file).read(read_text(file, "a file of steps")); }

TypicalStep typical_step(const Input& input, std::optional<std::uint64_t> number, const std::string& name) {
  if (input.steps.empty()) throw Unusable(fmt::format("{}: has no steps", escaped(name)));
  if (number) {
    std::vector<std::uint64_t> numbers;
    for (const auto& step : input.steps) {
      if (step.number == *number) return {step, 1, input.steps.size()};
      numbers.push_back(step.number);
    }
    throw WrongUsage(memory::no_such_step(*number, std::move(numbers)));
  }
  std::map<std::vector<std::string>, std::vector<const memory::Step*>> groups;
  for (const auto& step : input.steps) groups[names_of(step)].push_back(&step);
  const auto most = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  const auto& alike = most->second;
  TypicalStep typical{*alike.back(), alike.size(), input.steps.size()};
  for (std::size_t k = 0; k < typical.step.operators.size(); ++k) {
    std::vector<double> seconds;
    seconds.reserve(alike.size());
    for (const auto* step : alike) seconds.push_back(step->operators[k].seconds);
    typical.step.operators[k].seconds = median(std::move(seconds));
  }
  return typical;
}

}  // namespace lotus::analyzer::memory_plan
