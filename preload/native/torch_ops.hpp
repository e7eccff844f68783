// PyTorch's operators, through the observers that its own profiler uses (RecordFunction).
#pragma once

namespace lotus {

// While one exists, operators of this thread are observed. In a worker process the first one stays for good.
// Needs no GIL. Does nothing where libtorch is not loaded, or too unlike those that are known.
class TorchOps {
 public:
  TorchOps();
  ~TorchOps();
  TorchOps(const TorchOps&) = delete;
  TorchOps& operator=(const TorchOps&) = delete;

 private:
  unsigned long handle_ = 0;
  unsigned generation_ = 0;
};

}  // namespace lotus
