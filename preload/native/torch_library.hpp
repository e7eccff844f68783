// libtorch: the functions by which its operators are observed, found in the loaded library. No header of
// PyTorch's is needed; what is used has been the same from 1.13 to 2.14.
#pragma once

#include <cstdint>

namespace lotus {

// std::unique_ptr<at::ObserverContext>. It has a destructor, as that has: so it is returned through a pointer
// to its place, which x86-64 and aarch64 hand over in different ways.
struct ObserverContext {
  void* nothing = nullptr;
  ObserverContext() = default;
  ObserverContext(const ObserverContext&) = delete;
  ObserverContext& operator=(const ObserverContext&) = delete;
  ~ObserverContext() { nothing = nullptr; }
};

// at::RecordFunctionCallback; passed by value.
struct OperatorObserver {
  ObserverContext (*start)(const void* function);
  void (*end)(const void* function, void* context);
  double probability;
  bool scopes[10];  // at::RecordScope; the first is FUNCTION, operators, the second BACKWARD_FUNCTION, nodes
  bool inputs, outputs, ids;
};
static_assert(sizeof(OperatorObserver) == 40);

struct Torch {
  unsigned long (*add)(OperatorObserver);     // at::addThreadLocalCallback
  void (*remove)(unsigned long);              // at::removeCallback
  const char* (*name)(const void* function);  // at::RecordFunction::name() const
  bool (*has_any)();                          // at::hasThreadLocalCallbacks; nullptr: not there
  std::uint64_t (*next_node)();  // at::sequence_number::peek(): of the thread; nullptr: not there
  char library[64];              // file name
};
extern constinit Torch torch;  // filled in by find_torch()

// False: libtorch is not loaded, or too unlike those that are known. It is loaded long before a loader is
// used, and never unloaded: this is found out once.
bool find_torch();

}  // namespace lotus
