// The DataLoaders and their iterators of this process, by address.
//
// An entry is made when the object is constructed, so an address that is used again is a new object. Old
// entries give way to new ones.
//
// A loader is what a person takes for one: scripts make theirs anew for each epoch, libraries for each
// evaluation. One that is made when an earlier one has done its work, with its settings, and is used at the
// same place of the program goes on as that one.
#pragma once

#include <cstdint>
#include <string_view>

#include "python/code_names.hpp"
#include "python/cpython.hpp"

namespace lotus {

struct LoaderSettings {
  std::uint64_t workers = 0, prefetch = 0, batch_size = 0, pin_memory = 0, persistent = 0;
  std::int64_t in_order = 1;
  std::uint32_t types = 0;  // hash: the dataset's and the sampler's

  bool operator==(const LoaderSettings&) const = default;
};

struct LoaderEntry {
  const py::Object* self = nullptr;
  std::uint64_t id = 0;  // 0: no epoch yet
  std::uint64_t epochs = 0;
  bool defined = false;
  LoaderSettings settings;
  Origin origin;
  std::uint64_t made_after = 0;     // id of the last iterator of all when it was made
  std::uint64_t last_iterator = 0;  // id of its own
  bool exhausted = false;           // that one
  std::uint32_t places[2] = {};     // hashes of the Python stacks that made its first one, and that one
  // Weak references to the loader and that iterator, ours; nullptr: there can be none.
  py::Object* weak_self = nullptr;
  py::Object* weak_iterator = nullptr;
};

// Where a loader counts a batch as consumed: PyTorch's up to 2.5 inside of _process_data, later before it is
// called. Found out at the first batch that an iterator consumes, which has always just been received.
enum class CountsConsumed : std::uint8_t { unknown, before, inside };

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
  const py::Object* received_part = nullptr;  // … its first part, see first_part_of()
  CountsConsumed counted = CountsConsumed::unknown;
};

// Makes (or renews) the entry of an object under construction.
LoaderEntry* add_loader(py::Object* self);
Iterator* add_iterator(py::Object* self, py::Object* loader);

// One of another library's loader, which is known by its code; `type`: of the iterator.
Iterator* add_other_iterator(const py::Object* self, const py::Object* loader, std::string_view type,
                             std::string_view library);

// Whether this process made an iterator of PyTorch's.
bool has_torch_iterators();

// nullptr: unknown, or its entry was given up.
LoaderEntry* find_loader(const py::Object* self);
Iterator* find_iterator(const py::Object* self);
Iterator* find_iterator_by_queue(const py::Object* queue);

// The iterator has no more batches.
void note_exhausted(const Iterator& iterator);

// A new epoch of this iterator begins: sends the definitions that say so.
void define_epoch(Iterator& iterator);

// Sends a worker_link for each worker process of the iterator, once.
void define_workers(Iterator& iterator, py::Object* self);

// A forked child knows no loaders.
void forget_iterators();

}  // namespace lotus
