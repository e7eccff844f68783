// Which loops and recursions are open at a time, as one number each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "answers/controlflow/construct.hpp"

namespace lotus::analyzer::controlflow {

class Contexts {
 public:
  static constexpr std::size_t kOutside = 0;

  struct Context {
    std::vector<ConstructKey> open;  // ascending, each once
    ConstructKey innermost;          // if any is open
    Parts parts;
    std::size_t operators = 0;
  };

  Contexts() { contexts_.emplace_back(); }

  // With one more inside.
  std::size_t entered(std::size_t from, const ConstructKey& key) {
    const auto [known, fresh] = steps_.try_emplace({from, key}, 0);
    if (!fresh) return known->second;
    std::vector<ConstructKey> open = contexts_[from].open;
    if (!std::binary_search(open.begin(), open.end(), key))
      open.insert(std::upper_bound(open.begin(), open.end(), key), key);
    const auto [same, made] = ids_.try_emplace({open, key}, contexts_.size());
    if (made) contexts_.push_back({std::move(open), key, {}, 0});
    return known->second = same->second;
  }

  Context& at(std::size_t id) { return contexts_[id]; }
  const std::vector<Context>& all() const { return contexts_; }

 private:
  std::vector<Context> contexts_;
  std::map<std::pair<std::size_t, ConstructKey>, std::size_t> steps_;
  std::map<std::pair<std::vector<ConstructKey>, ConstructKey>, std::size_t> ids_;
};

}  // namespace lotus::analyzer::controlflow
