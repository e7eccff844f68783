#include "made_steps.hpp"

#include <algorithm>

namespace lotus::analyzer::test {

using memory::Operand;
using memory::Operator;
using memory::Phase;
using memory::Step;
using memory::Storage;

namespace {

std::size_t any(std::mt19937& random, std::size_t least, std::size_t most) {
  return std::uniform_int_distribution<std::size_t>(least, most)(random);
}

bool chance(std::mt19937& random, double share) { return std::bernoulli_distribution(share)(random); }

Storage tiny_storage(std::mt19937& random, std::size_t operators) {
  Storage storage;
  storage.bytes = any(random, 1, 9) * 1'000'000;
  storage.older = chance(random, 0.4);
  storage.survives = chance(random, 0.4);
  storage.born = storage.older ? 0 : any(random, 0, operators - 1);
  storage.released = storage.survives ? operators : any(random, storage.born + 1, operators);
  return storage;
}

// Builds a chain's step operator by operator.
class Builder {
 public:
  explicit Builder(std::mt19937& random) : random_(random) {}

  std::size_t storage(std::uint64_t bytes, bool older, bool survives) {
    Storage storage;
    storage.bytes = bytes;
    storage.older = older;
    storage.survives = survives;
    storage.born = older ? 0 : step_.operators.size();
    step_.storages.push_back(storage);
    return step_.storages.size() - 1;
  }

  void run(const char* name, Phase phase, std::vector<Operand> operands, std::uint64_t workspace = 0) {
    Operator op;
    op.name = name;
    op.phase = phase;
    op.place = operands.size();
    op.seconds = 1e-6 * static_cast<double>(any(random_, 50, 2000));
    op.operands = std::move(operands);
    op.workspace = workspace;
    step_.operators.push_back(std::move(op));
  }

  void release(std::size_t storage) { step_.storages[storage].released = step_.operators.size(); }

  Step take() {
    for (Storage& storage : step_.storages)
      if (storage.survives || storage.released == 0) storage.released = step_.operators.size();
    fill_uses(step_);
    return std::move(step_);
  }

 private:
  std::mt19937& random_;
  Step step_;
};

constexpr Operand reads(std::size_t storage) { return {storage, true, false}; }
constexpr Operand writes(std::size_t storage) { return {storage, false, true}; }
constexpr Operand changes(std::size_t storage) { return {storage, true, true}; }

}  // namespace

void fill_uses(Step& step) {
  for (Storage& storage : step.storages) storage.uses.clear();
  for (std::size_t k = 0; k < step.operators.size(); ++k)
    for (const Operand& operand : step.operators[k].operands)
      step.storages[operand.storage].uses.push_back(k);
}

Step tiny_step(std::mt19937& random) {
  Step step;
  step.operators.resize(any(random, 2, 5));
  const std::size_t storages = any(random, 2, 4);
  for (std::size_t i = 0; i < storages; ++i)
    step.storages.push_back(tiny_storage(random, step.operators.size()));
  for (std::size_t k = 0; k < step.operators.size(); ++k) {
    Operator& op = step.operators[k];
    op.name = "op" + std::to_string(k);
    op.seconds = 1e-5 * static_cast<double>(any(random, 1, 50));
    op.workspace = chance(random, 0.2) ? any(random, 0, 3) * 1'000'000 : 0;
    for (std::size_t i = 0; i < storages; ++i) {
      const Storage& storage = step.storages[i];
      if (k < storage.born || k >= storage.released || !chance(random, 0.7)) continue;
      const bool first = k == storage.born && !storage.older;
      op.operands.push_back({i, !first, first || chance(random, 0.3)});
    }
  }
  fill_uses(step);
  return step;
}

Step training_step(std::size_t layers, std::mt19937& random) {
  Builder builder(random);
  const auto size = [&] { return any(random, 1, 400) * 10'000; };
  std::vector<std::size_t> weights, moments, activations, gradients;
  for (std::size_t i = 0; i < layers; ++i) {
    const std::uint64_t bytes = size();
    weights.push_back(builder.storage(bytes, true, true));
    moments.push_back(builder.storage(bytes, true, true));
  }
  activations.push_back(builder.storage(size(), true, false));  // the batch
  for (std::size_t i = 0; i < layers; ++i) {
    const std::size_t made = builder.storage(size(), false, false),
                      normed = builder.storage(size(), false, false);
    builder.run("aten::convolution", Phase::forward,
                {reads(activations.back()), reads(weights[i]), writes(made)}, any(random, 0, 100) * 10'000);
    builder.run("aten::batch_norm", Phase::forward, {reads(made), writes(normed)});
    builder.run("aten::relu_", Phase::forward, {changes(normed)});
    activations.push_back(normed);
    moments.push_back(made);  // kept until backward
  }
  std::size_t above = builder.storage(size(), false, false);
  builder.run("aten::nll_loss_backward", Phase::backward, {reads(activations.back()), writes(above)});
  for (std::size_t i = layers; i-- > 0;) {
    const std::size_t below = builder.storage(size(), false, false);
    builder.run("aten::native_batch_norm_backward", Phase::backward,
                {reads(above), reads(moments[layers + i]), reads(activations[i + 1]), writes(below)});
    builder.release(above);
    builder.release(moments[layers + i]);
    builder.release(activations[i + 1]);
    above = builder.storage(size(), false, false);
    gradients.insert(gradients.begin(), builder.storage(size(), false, true));
    builder.run(
        "aten::convolution_backward", Phase::backward,
        {reads(below), reads(activations[i]), reads(weights[i]), writes(above), writes(gradients.front())},
        any(random, 0, 100) * 10'000);
    builder.release(below);
  }
  builder.release(activations[0]);
  for (std::size_t i = 0; i < layers; ++i) {
    builder.run("aten::lerp_", Phase::optimizer, {changes(moments[i]), reads(gradients[i])});
    builder.run("aten::addcdiv_", Phase::optimizer,
                {changes(weights[i]), reads(moments[i]), reads(gradients[i])});
  }
  return builder.take();
}

}  // namespace lotus::analyzer::test
