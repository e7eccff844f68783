// What a Python frame is part of: the stack of contexts of the calls around it.
#pragma once

#include <cstdint>

#include "python/cpython.hpp"
#include "python/python_thread.hpp"
#include "record/process.hpp"

namespace lotus {

// What a frame below is part of. Lives on the C stack of the handler that opened it; more is known of each
// kind by its own type, see pipeline/contexts.hpp.
struct Context {
  enum class Kind : std::uint8_t {
    fetch,        // makes a batch
    sample,       // makes a sample of it
    runner,       // calls operations
    op,           // is one
    first_frame,  // is taken for one: the first frame of a sample, called by no runner
    opaque        // what is below is of no interest
  };

  explicit Context(Kind is) : kind(is), place(place_of(is)) {}

  // A bit for each kind, for sets of them.
  static constexpr std::uint8_t place_of(Kind kind) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(kind));
  }

  Kind kind;
  std::uint8_t place;
  Context* up = nullptr;
  std::uint64_t serial = 0;  // of the thread's contexts, from 1
  // Held for the life of the ContextScope, since what runs may let go of them.
  py::Object* held[2] = {};
};

// The current context, if it is what it was, and that of a call around the one with this frame; else nullptr,
// and the thread is marked as unbalanced.
inline Context* context_around(const void* frame) {
  Context* context = python_thread.context;
  if (context == nullptr) return nullptr;
  if (reinterpret_cast<const void*>(context) > frame && context->serial == python_thread.context_serial)
    return context;
  mark_unbalanced();
  return nullptr;
}

// Puts a context before the current one for the life of the scope.
class ContextScope {
 public:
  explicit ContextScope(Context& context)
      : context_(context), outer_serial_(python_thread.context_serial), generation_(process.generation) {
    for (py::Object* object : context.held)
      if (object != nullptr) py::api.Py_IncRef(object);
    context.up = python_thread.context;
    context.serial = ++python_thread.serials;
    python_thread.context = &context;
    python_thread.context_serial = context.serial;
  }
  ~ContextScope() {
    leave();
    for (py::Object* object : context_.held)
      if (object != nullptr) py::api.Py_DecRef(object);
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  void leave() {
    if (generation_ != process.generation) return;
    if (python_thread.context == &context_ && python_thread.context_serial == context_.serial) {
      python_thread.context = context_.up;
      python_thread.context_serial = outer_serial_;
    } else {
      mark_unbalanced();
    }
  }

  Context& context_;
  std::uint64_t outer_serial_;
  std::uint32_t generation_;
};

}  // namespace lotus
