#include "python/method_table.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace lotus {
namespace {

constexpr std::size_t kMethods = 256;
constinit ReplacedMethod replaced[kMethods] = {};
constinit std::size_t replaced_count = 0;

template <std::size_t I>
void* trampoline(void* a, void* b, void* c, void* d, void* e, void* f) {
  return replaced[I].wrapper(replaced[I], {a, b, c, d, e, f});
}

template <std::size_t... I>
constexpr auto make_trampolines(std::index_sequence<I...>) {
  struct Table {
    Method at[sizeof...(I)];
  };
  return Table{{trampoline<I>...}};
}
constexpr auto kTrampolines = make_trampolines(std::make_index_sequence<kMethods>{});

bool store_directly(Method* target, Method value) {
  const iovec from{&value, sizeof value};
  const iovec to{target, sizeof value};
  return process_vm_writev(getpid(), &from, 1, &to, 1, 0) == sizeof value;
}

// Where that call is not permitted, as in some containers: what is read from a pipe is stored, too.
bool store_from_pipe(Method* target, Method value) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  // The system call itself: the interposed read counts the program's files.
  const bool stored = write(ends[1], &value, sizeof value) == sizeof value &&
                      syscall(SYS_read, ends[0], target, sizeof value) == sizeof value;
  close(ends[0]);
  close(ends[1]);
  return stored;
}

// Stores the pointer through the kernel, which refuses where memory is read-only instead of faulting.
bool store(Method* target, Method value) {
  const int saved = errno;
  const bool stored = store_directly(target, value) || (errno != EFAULT && store_from_pipe(target, value));
  errno = saved;
  return stored;
}

}  // namespace

MethodDef* method_of(py::Object* callable) {
  // PyCFunctionObject: m_ml behind the object header. PyMethodDescrObject: d_method behind PyDescr_COMMON
  // (type, name, qualname).
  if (py::is_exactly(callable, py::api.PyCFunction_Type)) return py::word_of<MethodDef*>(callable, 2);
  if (py::is_exactly(callable, py::api.PyMethodDescr_Type)) return py::word_of<MethodDef*>(callable, 5);
  return nullptr;
}

Method original_of(const MethodDef* definition) {
  for (std::size_t i = 0; i < replaced_count; ++i)
    if (replaced[i].definition == definition) return replaced[i].real;
  return definition->method;
}

bool replace_method(MethodDef* definition, ReplacedMethod::Wrapper wrapper, std::uintptr_t data) {
  for (std::size_t i = 0; i < replaced_count; ++i)
    if (replaced[i].definition == definition && replaced[i].wrapper == wrapper) return true;
  if (replaced_count == kMethods || definition->method == nullptr) return false;
  replaced[replaced_count] = {definition, definition->method, wrapper, data};
  // Where the table is read-only the method stays as it is; it is remembered, and not tried again.
  return store(&definition->method, kTrampolines.at[replaced_count++]);
}

}  // namespace lotus
