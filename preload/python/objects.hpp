// Python objects: references, names, attributes that are read without running Python code.
#pragma once

#include <cstdint>
#include <string_view>

#include "python/cpython.hpp"

namespace lotus {

// Names that are looked up often, as interned strings.
// clang-format off
#define LOTUS_NAMES(N) \
  N(co_name) N(co_filename) N(co_flags) N(co_names) N(co_varnames) N(co_cellvars) N(co_freevars) \
  N(co_argcount) N(co_firstlineno) N(co_qualname) N(__call__) N(__init__) N(__len__) N(__iter__) N(__next__) \
  N(__getitem__) N(__qualname__) N(__name__) N(__module__) N(__mro__) N(fget) N(forward) N(func) N(loader) \
  N(dataset) N(datasets) N(collate_fn) N(dataset_iter) N(_modules) N(_rcvd_idx) N(_send_idx) \
  N(_tasks_outstanding) N(_num_yielded) N(_workers) N(_popen) N(pid) N(_worker_result_queue) \
  N(num_workers) N(prefetch_factor) N(batch_size) N(pin_memory) N(persistent_workers) N(in_order) \
  N(sampler) N(batch_sampler) N(co_code) N(f_lasti) N(opmap) N(co_kwonlyargcount) N(auto_collation) \
  N(shape) N(__torch_function__) N(__wrapped__) N(DisableTorchFunction) N(__enter__) N(__exit__) \
  N(_current_process) N(_inheriting) N(load) N(tell) N(_work_queue) N(_inqueue) N(_target) N(requires_grad) N(run)
// clang-format on
struct Names {
#define LOTUS_NAME(name) py::Object* name;
  LOTUS_NAMES(LOTUS_NAME)
#undef LOTUS_NAME
};
extern Names names;

// Makes `names`. False: out of memory.
bool intern_names();

// An attribute in the instance's dictionary or slots, or a plain one of its class: never calls properties,
// __getattr__ or descriptors written in Python. New reference, nullptr if absent.
py::Object* plain_attribute(py::Object* object, py::Object* name);

// The same as an integer; `fallback` if absent or not an int.
std::int64_t integer_attribute(py::Object* object, py::Object* name, std::int64_t fallback);
std::int64_t integer_of(py::Object* object, std::int64_t fallback);

// A module that is loaded, by its whole name; borrowed. nullptr: it is not.
py::Object* loaded_module(const char* name);

// UTF-8 of a str, or the bytes of a bytes object; empty for anything else. Borrowed.
std::string_view text_of(py::Object* object);

// Gives a reference back at the end of the scope.
class Owned {
 public:
  explicit Owned(py::Object* object) : object_(object) {}
  ~Owned() {
    if (object_ != nullptr) py::api.Py_DecRef(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  py::Object* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  py::Object* object_;
};

}  // namespace lotus
