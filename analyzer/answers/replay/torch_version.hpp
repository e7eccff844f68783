// What versions of PyTorch can do.
#pragma once

#include <string>
#include <utility>

namespace lotus::analyzer {

// Major and minor number of a version like "2.10.1+cpu"; 0, 0: not known.
std::pair<int, int> torch_version(const std::string& text);

inline constexpr std::pair<int, int> kInOrderSince{2, 6};      // DataLoader's in_order
inline constexpr std::pair<int, int> kTellsOfCompiling{2, 1};  // torch.compile keeps what it compiled

}  // namespace lotus::analyzer
