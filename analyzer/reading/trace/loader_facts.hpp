// A loader's definition as JSON, with the same keys in all commands.
#pragma once

#include <nlohmann/json.hpp>

#include "reading/trace/catalog.hpp"

namespace lotus::analyzer {

inline nlohmann::ordered_json loader_facts(const Loader& loader) {
  const bool asked = loader.length >= 0;
  const bool placed = !loader.file.empty();
  return {{"id", loader.id},
          {"dataset", loader.dataset},
          {"length", asked ? nlohmann::ordered_json(loader.length) : nlohmann::ordered_json(nullptr)},
          {"workers", loader.workers},
          {"prefetch", loader.prefetch},
          {"batch_size", loader.batch_size},
          {"pin_memory", loader.pin_memory},
          {"persistent", loader.persistent},
          {"made", loader.made},
          {"in_order", loader.in_order},
          {"variable", loader.variable.empty() ? nlohmann::ordered_json(nullptr)
                                               : nlohmann::ordered_json(loader.variable)},
          {"file", placed ? nlohmann::ordered_json(loader.file) : nlohmann::ordered_json(nullptr)},
          {"line", placed ? nlohmann::ordered_json(loader.line) : nlohmann::ordered_json(nullptr)}};
}

}  // namespace lotus::analyzer
