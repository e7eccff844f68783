// The DataLoaders and their iterators of this process, by address.
//
// An entry is made when the object is constructed, so an address that is used again is a new object. Old
// entries give way to new ones.
#pragma once

#include <cstdint>

#include "cpython.hpp"

namespace lotus {

struct LoaderEntry {
  const py::Object* self = nullptr;
  std::uint64_t id = 0;
  std::uint64_t epochs = 0;
  bool defined = false;
};

struct Iterator {
  const py::Object* self = nullptr;
  std::uint64_t id = 0;
  std::uint64_t reset = 0;
  LoaderEntry* loader = nullptr;
  const py::Object* result_queue = nullptr;
  bool linked = false;  // its workers were told
  bool initialising = false;
  bool resetting = false;
  // The last batch that _get_data delivered, and the object it came as.
  std::uint64_t received_batch = 0;
  const py::Object* received_data = nullptr;
};

// Makes (or renews) the entry of an object under construction.
LoaderEntry* add_loader(const py::Object* self);
Iterator* add_iterator(const py::Object* self, py::Object* loader);

// nullptr: unknown, or its entry was given up.
LoaderEntry* find_loader(const py::Object* self);
Iterator* find_iterator(const py::Object* self);
Iterator* find_iterator_by_queue(const py::Object* queue);

// A new epoch of this iterator begins: sends the definitions that say so.
void define_epoch(Iterator& iterator);

// Sends a worker_link for each worker process of the iterator, once.
void define_workers(Iterator& iterator, py::Object* self);

// A forked child knows no loaders.
void forget_iterators();

}  // namespace lotus
