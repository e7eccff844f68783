// The contexts of a pipeline's frames, a type for each kind.
#pragma once

#include <cstdint>

#include "python/code_info.hpp"
#include "python/context.hpp"

namespace lotus {

// A batch is made.
struct FetchContext : Context {
  FetchContext(py::Object* from, py::Object* with, bool is_iterable)
      : Context(Kind::fetch), dataset(from), collate(with), iterable(is_iterable) {
    held[0] = dataset;
  }
  py::Object* dataset;
  py::Object* collate;  // kept by who opened the context
  bool iterable;
  py::Object* key = nullptr;  // what the dataset is asked for, if it is asked; kept by who opened the context
  bool whole = false;         // the loader has no batch size: the dataset makes whole batches, it seems, …
  bool sized = false;         // … and how large this one is was told
  bool sampled = false;       // a sample was made; what comes next is the collate function
  std::uint64_t samples_end = 0;  // ticks when the last sample was done
};

// An object's callables are called one after the other: a runner's, or a dataset's.
struct ItemsContext : Context {
  ItemsContext(Kind is, py::Object* object, py::Object* callables)
      : Context(is), self(object), items(callables) {
    held[0] = self;
    held[1] = items;
  }
  py::Object* self;
  py::Object* items;  // a container, see visit_items(); nullptr: the dataset has none
  py::Ssize next_item = 0;
};

// A sample is made by the dataset `self`.
struct SampleContext : ItemsContext {
  SampleContext(py::Object* dataset, py::Object* callables)
      : ItemsContext(Kind::sample, dataset, callables) {}
  bool batched = false;         // in fact all samples of a batch at once, __getitems__, …
  py::Object* asked = nullptr;  // … of these indices; kept by who opened the context
  std::uint8_t expanded = 0;    // helper methods of the dataset that were opened up
};

struct RunnerContext : ItemsContext {
  RunnerContext(py::Object* runner, py::Object* callables) : ItemsContext(Kind::runner, runner, callables) {}
  std::uint8_t depth = 0;  // unmatched frames between it and here
};

// A library's code that calls what its `self` was given, self.transform(rows), while it is being evaluated.
struct Holder {
  const CodeInfo* info;
  py::Object* code;
  py::Object* self;
};

struct OperationContext : Context {
  explicit OperationContext(py::Object* callable, Kind is = Kind::op) : Context(is), self(callable) {}
  py::Object* self;                // only compared: it may be gone
  const Holder* holder = nullptr;  // first_frame: the innermost one inside it
  std::uint32_t owner = 0;         // first_frame: whose code that is, see owner_of()
  bool stage = false;              // first_frame: it is a StageContext, and no operation itself
};

// The code of a loader that is not PyTorch's runs, whose owner is `whose`, see owner_of(): what it calls of
// the program's are operations.
struct StageContext : OperationContext {
  explicit StageContext(std::uint32_t whose) : OperationContext(nullptr, Context::Kind::first_frame) {
    owner = whose;
    stage = true;
  }
  // A function inside of it whose parts may be operations, too. `level`: how many operations there are around
  // them.
  StageContext(const StageContext& around, py::Object* callable, std::uint8_t level)
      : OperationContext(callable, Context::Kind::first_frame) {
    owner = around.owner;
    stage = true;
    loader = around.loader;
    begin = around.begin;
    body = around.body;
    parent_has_loader = around.parent_has_loader;
    opened = level;
    parts = true;
  }
  // Of the program's own loader, only compared: the object that it is, and the function that its thread runs,
  // which is no operation.
  const py::Object* loader = nullptr;
  const py::Object* body = nullptr;
  std::uint64_t begin = 0;         // ticks: since when that runs
  std::uint8_t opened = 0;         // operations around it
  bool parts = false;              // see above
  bool parent_has_loader = false;  // it works for a loader of the parent's process
};

struct OpaqueContext : Context {
  OpaqueContext() : Context(Kind::opaque) {}
};

}  // namespace lotus
