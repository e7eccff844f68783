#include "answers/plan/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "answers/memory/source.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

using memory::Operand;
using memory::RecordedStep;
using memory::Storage;

// Each storage once.
std::vector<Operand> joined(const std::vector<Operand>& operands) {
  std::vector<Operand> found;
  for (const Operand& operand : operands) {
    const auto known = std::find_if(found.begin(), found.end(),
                                    [&](const Operand& other) { return other.storage == operand.storage; });
    if (known == found.end()) {
      found.push_back(operand);
      continue;
    }
    known->read = known->read || operand.read;
    known->written = known->written || operand.written;
  }
  return found;
}

void settle(Storage& storage, std::size_t end) {
  if (!storage.uses.empty()) {
    storage.born = std::min(storage.born, storage.uses.front());
    storage.released = std::max(storage.released, storage.uses.back() + 1);
  }
  if (storage.older) storage.born = 0;
  if (storage.survives) storage.released = end;
  storage.born = std::min(storage.born, end);
  storage.released = std::clamp(storage.released, storage.born, end);
}

class Maker {
 public:
  void add(const RecordedStep& recorded) {
    memory::Step step = recorded.step;
    for (Storage& storage : step.storages) {
      storage.uses.clear();
      storage.place = place_of(recorded, storage.place);
    }
    for (std::size_t k = 0; k < step.operators.size(); ++k) {
      auto& op = step.operators[k];
      op.place = place_of(recorded, op.place);
      op.operands = joined(op.operands);
      for (const Operand& operand : op.operands) step.storages[operand.storage].uses.push_back(k);
    }
    for (Storage& storage : step.storages) settle(storage, step.operators.size());
    check(step, fmt::format("step {}", step.number));
    input_.steps.push_back(std::move(step));
  }

  Input take() { return std::move(input_); }

 private:
  // Places are numbers of a process; here each line of the program has one.
  std::uint64_t place_of(const RecordedStep& recorded, std::uint64_t place) {
    if (place == 0 || recorded.process == nullptr) return 0;
    const memory::SourceLine line = memory::source_of(*recorded.process, place);
    if (line.file.empty()) return 0;
    const auto known = numbers_.emplace(std::pair(line.file, line.line), numbers_.size() + 1).first;
    input_.places[known->second] = {line.file, line.line};
    return known->second;
  }

  Input input_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> numbers_;
};

}  // namespace

Input input_of(const std::vector<RecordedStep>& steps, const std::string& name) {
  const auto usable = [](const RecordedStep& step) {
    return step.is_whole() && !step.step.operators.empty();
  };
  const bool any_trains = std::any_of(
      steps.begin(), steps.end(), [&](const RecordedStep& step) { return usable(step) && step.trains(); });
  Maker maker;
  for (const RecordedStep& step : steps)
    if (usable(step) && (step.trains() || !any_trains)) maker.add(step);
  Input input = maker.take();
  if (input.steps.empty())
    throw Unusable(
        fmt::format("{}: has no step of training that was recorded to its end; record with "
                    "LOTUS_STEPS=all, or more steps (docs/memory.md)",
                    escaped(name)));
  return input;
}

}  // namespace lotus::analyzer::memory_plan
