// A loader's definition as JSON, with the same keys in all commands.
#pragma once

#include <nlohmann/json.hpp>
#include <utility>

#include "reading/trace/catalog.hpp"

namespace lotus::analyzer {

inline nlohmann::ordered_json loader_facts(const Loader& loader) {
  const bool asked = loader.length >= 0;
  const bool placed = !loader.file.empty();
  // Another library's has none of PyTorch's settings.
  const auto of_torch = [&](nlohmann::ordered_json value) {
    return loader.is_other() ? nlohmann::ordered_json(nullptr) : std::move(value);
  };
  return {{"id", loader.id},
          {"dataset", loader.dataset},
          {"library",
           loader.is_other() ? nlohmann::ordered_json(loader.library) : nlohmann::ordered_json(nullptr)},
          {"length", asked ? nlohmann::ordered_json(loader.length) : nlohmann::ordered_json(nullptr)},
          {"sampler",
           loader.sampler.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(loader.sampler)},
          {"workers", of_torch(loader.workers)},
          {"prefetch", of_torch(loader.prefetch)},
          {"batch_size", of_torch(loader.batch_size)},
          {"pin_memory", of_torch(loader.pin_memory)},
          {"persistent", of_torch(loader.persistent)},
          {"made", loader.made},
          {"in_order", of_torch(loader.in_order)},
          {"variable", loader.variable.empty() ? nlohmann::ordered_json(nullptr)
                                               : nlohmann::ordered_json(loader.variable)},
          {"file", placed ? nlohmann::ordered_json(loader.file) : nlohmann::ordered_json(nullptr)},
          {"line", placed ? nlohmann::ordered_json(loader.line) : nlohmann::ordered_json(nullptr)}};
}

}  // namespace lotus::analyzer
