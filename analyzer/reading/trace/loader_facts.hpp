// A loader's definition as JSON, with the same keys in all commands.
#pragma once

#include <nlohmann/json.hpp>

#include "reading/trace/catalog.hpp"

namespace lotus::analyzer {

inline nlohmann::ordered_json loader_facts(const Loader& loader) {
  using Json = nlohmann::ordered_json;
  const bool asked = loader.length >= 0;
  const bool placed = !loader.file.empty();
  return {{"id", loader.id},
          {"dataset", loader.dataset},
          {"length", asked ? Json(loader.length) : Json(nullptr)},
          {"workers", loader.workers},
          {"prefetch", loader.prefetch},
          {"batch_size", loader.batch_size},
          {"pin_memory", loader.pin_memory},
          {"persistent", loader.persistent},
          {"made", loader.made},
          {"in_order", loader.in_order},
          {"variable", loader.variable.empty() ? Json(nullptr) : Json(loader.variable)},
          {"file", placed ? Json(loader.file) : Json(nullptr)},
          {"line", placed ? Json(loader.line) : Json(nullptr)}};
}

}  // namespace lotus::analyzer
