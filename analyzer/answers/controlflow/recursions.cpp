#include "answers/controlflow/recursions.hpp"

#include <algorithm>

namespace lotus::analyzer::controlflow {

Recursions::Recursions(const Region& region, const Codes& codes)
    : region_(region), depths_(region.activations.size(), 1) {
  const std::vector<Activation>& all = region.activations;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint64_t code = all[i].code;
    if (code == 0) continue;  // a function that has no number may be any
    std::size_t above = all[i].caller;
    while (above != Activation::kNobody && all[above].code != code) above = all[above].caller;
    // What calls the step is none of it.
    if (above != Activation::kNobody && region.is_step && all[above].before) continue;
    if (above == Activation::kNobody || codes.is_machinery(code)) continue;
    depths_[i] = depths_[above] + 1;
    codes_.insert(code);
  }
}

void Recursions::add_by_depth(std::size_t activation, const Parts& parts, Constructs& constructs) const {
  const std::vector<Activation>& all = region_.activations;
  while (activation != Activation::kNobody && !contains(all[activation].code))
    activation = all[activation].caller;
  if (activation == Activation::kNobody) return;
  std::vector<Parts>& by_depth = constructs.all[key(all[activation].code)].by_depth;
  by_depth.resize(std::max(by_depth.size(), depths_[activation]));
  by_depth[depths_[activation] - 1].add(parts);
}

void Recursions::count(Constructs& constructs) const {
  for (std::size_t i = 0; i < region_.activations.size(); ++i) {
    const std::uint64_t code = region_.activations[i].code;
    if (!contains(code)) continue;
    Construct& recursion = constructs.all[key(code)];
    ++recursion.calls;
    recursion.depth = std::max<std::uint64_t>(recursion.depth, depths_[i]);
    recursion.calls_by_depth.resize(std::max(recursion.calls_by_depth.size(), depths_[i]));
    ++recursion.calls_by_depth[depths_[i] - 1];
  }
}

}  // namespace lotus::analyzer::controlflow
