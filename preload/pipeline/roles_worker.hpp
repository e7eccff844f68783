// What other roles need to know of the batch that this thread makes.
#pragma once

#include <cstdint>

#include "record/setting.hpp"

namespace lotus {

struct BatchName {
  std::uint64_t iterator = 0, reset = 0, batch = 0;
};

// While it lives, the batch that this thread makes has this name: num_workers=0.
class BatchScope {
 public:
  explicit BatchScope(const BatchName& name);

 private:
  Setting<BatchName> batch_;
  Setting<bool> known_;
};

// This is a worker's main thread, and it makes no batch just now.
bool is_between_batches();

}  // namespace lotus
