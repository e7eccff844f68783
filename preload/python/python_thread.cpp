#include "python/python_thread.hpp"

#include "system/log.hpp"

namespace lotus {

constinit thread_local PythonThread python_thread{};

void mark_unbalanced() {
  if (!python_thread.unbalanced) note("a thread's calls do not nest (greenlets?): it is no more recorded");
  python_thread.unbalanced = true;
  python_thread.context = nullptr;
  python_thread.in_sample = false;
  python_thread.calls = nullptr;
}

void forget_python_thread() {
  const std::uintptr_t stack_floor = python_thread.stack_floor;
  python_thread = PythonThread{};
  python_thread.stack_floor = stack_floor;
}

}  // namespace lotus
