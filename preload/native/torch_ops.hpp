// PyTorch's operators, through the observers that its own profiler uses (RecordFunction).
#pragma once

#include <cstdint>

#include "record/native_totals.hpp"

namespace lotus {

// Which operators are counted inside a pipeline's spans: none, those of the top level in as many batches as
// cost next to nothing, those of the top level in all batches, all.
enum class TorchOpsLevel { off, automatic, top, all };

// Before any is observed; automatic if it is not called.
void choose_torch_ops(TorchOpsLevel level);

// The hook that stands for an operator of this name; 0: there is no room for one more. Needs find_torch().
HookId hook_of_operator(const char* name);

// While one exists, operators of this thread are observed; unless asked for otherwise (LOTUS_TORCH_OPS), only
// in as many batches as cost next to nothing. Needs no GIL. Does nothing where libtorch is not loaded, or too
// unlike those that are known.
class TorchOps {
 public:
  // Around the fetch of a batch of this iterator.
  explicit TorchOps(std::uint64_t iterator);
  ~TorchOps();
  TorchOps(const TorchOps&) = delete;
  TorchOps& operator=(const TorchOps&) = delete;

  // Operators would be observed, but not in this batch.
  bool spared() const { return spared_; }

 private:
  unsigned long handle_ = 0;
  unsigned generation_ = 0;
  bool spared_ = false;
  std::uint64_t start_ = 0;  // ticks, where operators are observed in some batches only
};

// Finds libtorch, which takes milliseconds, so that the workers that are forked then need not. Does nothing
// where operators are not observed.
void find_torch_ops();

}  // namespace lotus
