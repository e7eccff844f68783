#include "iterators.hpp"

#include <cstring>

#include "classify.hpp"

namespace lotus {
namespace {

// The most recent ones; the oldest give way.
template <class Entry, std::size_t N>
struct Recent {
  Entry entries[N];
  std::uint64_t made = 0;

  Entry* find(const py::Object* self) {
    const std::uint64_t kept = made < N ? made : N;
    for (std::uint64_t i = 0; i < kept; ++i) {
      Entry& entry = entries[(made - 1 - i) % N];
      if (entry.self == self) return &entry;
    }
    return nullptr;
  }
  // The object's entry, emptied and numbered anew.
  Entry* add(const py::Object* self) {
    Entry* old = find(self);
    if (old != nullptr) old->self = nullptr;
    Entry& entry = entries[made % N];
    entry = Entry{};
    entry.self = self;
    entry.id = ++made;
    return &entry;
  }
};
constinit Recent<LoaderEntry, 256> loaders{};
constinit Recent<Iterator, 256> iterators{};

void define_loader(LoaderEntry& entry, py::Object* loader) {
  if (entry.defined) return;
  const auto number = [loader](py::Object* name) {
    const std::int64_t value = integer_attribute(loader, name, 0);
    return value > 0 ? static_cast<std::uint64_t>(value) : 0;
  };
  const Owned dataset(plain_attribute(loader, names.dataset));
  const std::string_view type = dataset ? py::type_name(py::type_of(dataset.get())) : "";
  entry.defined = define<Kind::loader>(entry.id, number(names.num_workers), number(names.prefetch_factor),
                                       number(names.batch_size), number(names.pin_memory),
                                       number(names.persistent_workers),
                                       integer_attribute(loader, names.in_order, 1), type, std::int64_t{-1});
}

}  // namespace

LoaderEntry* add_loader(const py::Object* self) { return loaders.add(self); }

LoaderEntry* find_loader(const py::Object* self) { return loaders.find(self); }

Iterator* find_iterator(const py::Object* self) { return iterators.find(self); }

Iterator* find_iterator_by_queue(const py::Object* queue) {
  for (auto& entry : iterators.entries)
    if (entry.self != nullptr && entry.result_queue == queue) return &entry;
  return nullptr;
}

Iterator* add_iterator(const py::Object* self, py::Object* loader) {
  LoaderEntry* owner = find_loader(loader);
  if (owner == nullptr) owner = add_loader(loader);
  define_loader(*owner, loader);
  Iterator* entry = iterators.add(self);
  entry->loader = owner;
  define<Kind::iterator>(entry->id, owner->id);
  define_epoch(*entry);
  return entry;
}

void define_epoch(Iterator& iterator) {
  define<Kind::epoch>(iterator.id, iterator.reset, iterator.loader->epochs++);
}

void define_workers(Iterator& iterator, py::Object* self) {
  if (iterator.linked) return;
  const Owned queue(plain_attribute(self, names._worker_result_queue));
  iterator.result_queue = queue.get();
  const Owned workers(plain_attribute(self, names._workers));
  const py::Ssize size =
      workers && py::is_a(workers.get(), py::kList) ? py::api.PyList_Size(workers.get()) : 0;
  for (py::Ssize i = 0; i < size; ++i) {
    const Owned popen(plain_attribute(py::api.PyList_GetItem(workers.get(), i), names._popen));
    const std::int64_t pid = popen ? integer_attribute(popen.get(), names.pid, 0) : 0;
    if (pid > 0) iterator.linked = define<Kind::worker_link>(iterator.id, i, pid);
  }
}

void forget_iterators() {
  std::memset(static_cast<void*>(&loaders), 0, sizeof loaders);
  std::memset(static_cast<void*>(&iterators), 0, sizeof iterators);
}

}  // namespace lotus
