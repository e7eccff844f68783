#include "python/context.hpp"

namespace lotus {

Context* context_around(const void* frame) {
  Context* context = python_thread.context;
  if (context == nullptr) return nullptr;
  if (reinterpret_cast<const void*>(context) > frame && context->serial == python_thread.context_serial)
    return context;
  mark_unbalanced();
  return nullptr;
}

}  // namespace lotus
