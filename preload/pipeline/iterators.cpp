#include "pipeline/iterators.hpp"

#include <cstring>
#include <utility>

#include "python/evaluator.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"
#include "system/hash.hpp"

namespace lotus {
namespace {

void release(const Iterator&) {}
void release(const LoaderEntry& entry) {
  for (py::Object* reference : {entry.weak_self, entry.weak_iterator})
    if (reference != nullptr) py::api.Py_DecRef(reference);
  release_origin(entry.origin);
}

// The most recent ones; the oldest give way.
template <class Entry, std::size_t N>
struct Recent {
  Entry entries[N];
  std::uint64_t made = 0;

  // The newest for which it is so: addresses are used again.
  template <class Condition>
  Entry* find_if(const Condition& condition) {
    const std::uint64_t kept = made < N ? made : N;
    for (std::uint64_t i = 0; i < kept; ++i) {
      Entry& entry = entries[(made - 1 - i) % N];
      if (entry.self != nullptr && condition(entry)) return &entry;
    }
    return nullptr;
  }
  Entry* find(const py::Object* self) {
    return find_if([self](const Entry& entry) { return entry.self == self; });
  }
  // The object's entry, in place of the oldest one.
  Entry* add(const py::Object* self) {
    Entry* old = find(self);
    if (old != nullptr) old->self = nullptr;
    Entry& entry = entries[made % N];
    ++made;
    release(entry);
    entry = Entry{};
    entry.self = self;
    return &entry;
  }
  // Writes to what was used only: in a forked child, a page that is written to is copied. Releases nothing.
  void forget() {
    const std::uint64_t used = made < N ? made : N;
    for (std::uint64_t i = 0; i < used; ++i) entries[i] = Entry{};
    made = 0;
  }
};
constinit Recent<LoaderEntry, 256> loaders{};
constinit Recent<Iterator, 256> iterators{};

constinit std::uint64_t loaders_with_epochs = 0;
constinit std::uint64_t torch_iterators = 0;

// nullptr: its type allows none.
py::Object* weak_reference(py::Object* object) {
  py::Object* reference = py::api.PyWeakref_NewRef(object, nullptr);
  if (reference == nullptr) py::api.PyErr_Clear();
  return reference;
}

bool is_gone(py::Object* reference) {
  if (reference == nullptr) return false;
  const Owned object(py::api.PyObject_CallObject(reference, nullptr));
  if (!object) py::api.PyErr_Clear();
  return object.get() == py::api._Py_NoneStruct;
}

// Not each of its frames is seen each time: from 3.12 CPython inlines a class's __init__ once the call is
// hot.
bool is_loaders_own(py::Object* code) {
  if (has_role(code)) return true;
  const Owned file(plain_attribute(code, names.co_filename));
  return file && text_of(file.get()).ends_with("torch/utils/data/dataloader.py");
}

// Hash of the lines at which the running Python functions are, the loader's own left out.
std::uint32_t current_place() {
  constexpr int kMostFrames = 64;
  std::uint32_t hash = kHashOfNothing;
  py::Object* frame = py::api.PyEval_GetFrame();  // borrowed
  if (frame != nullptr) py::api.Py_IncRef(frame);
  for (int i = 1; frame != nullptr; ++i) {
    const Owned held(frame);
    const Owned code(py::api.PyFrame_GetCode(frame));
    frame = i < kMostFrames ? py::api.PyFrame_GetBack(frame) : nullptr;
    if (is_loaders_own(code.get())) continue;
    const std::pair at(code.get(), static_cast<std::intptr_t>(py::api.PyFrame_GetLineNumber(held.get())));
    hash = hash_text({reinterpret_cast<const char*>(&at), sizeof at}, hash);
  }
  return hash;
}

// Of several the one that was used least recently: a script goes through its loaders in turn.
LoaderEntry* predecessor_of(const LoaderEntry& entry) {
  LoaderEntry* found = nullptr;
  for (LoaderEntry& other : loaders.entries) {
    if (&other == &entry || other.id == 0 || other.last_iterator > entry.made_after) continue;
    const bool same_place = other.places[0] == entry.places[0] || other.places[1] == entry.places[0];
    if (!same_place || other.settings != entry.settings) continue;
    if (found != nullptr && found->last_iterator < other.last_iterator) continue;
    if (other.exhausted || is_gone(other.weak_iterator)) found = &other;
  }
  return found;
}

void identify(LoaderEntry& entry) {
  LoaderEntry* before = predecessor_of(entry);
  if (before == nullptr) {
    entry.id = ++loaders_with_epochs;
    return;
  }
  entry.id = std::exchange(before->id, 0);
  entry.epochs = before->epochs;
}

std::uint64_t number_of(py::Object* object, py::Object* name) {
  const std::int64_t value = integer_attribute(object, name, 0);
  return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

// A loader that was given a batch sampler has no batch size itself.
std::uint64_t batch_size_of(py::Object* loader) {
  const std::uint64_t own = number_of(loader, names.batch_size);
  const Owned sampler(plain_attribute(loader, names.batch_sampler));
  return own > 0 || !sampler ? own : number_of(sampler.get(), names.batch_size);
}

void define_place(const LoaderEntry& entry) {
  if (entry.origin.code == nullptr) return;
  char name[256];
  const CodeText text(entry.origin.code);
  define<Kind::loader_place>(entry.id, origin_name(entry.origin, name, sizeof name), text.file(),
                             static_cast<std::uint64_t>(entry.origin.line < 0 ? 0 : entry.origin.line));
}

void define_loader(LoaderEntry& entry, py::Object* loader) {
  if (entry.defined) return;
  const auto number = [loader](py::Object* name) { return number_of(loader, name); };
  const auto type_of = [loader](py::Object* name) {
    const Owned value(plain_attribute(loader, name));
    return std::string_view(value ? py::type_name(py::type_of(value.get())) : "");
  };
  const std::string_view dataset = type_of(names.dataset);
  // A batch sampler of the program's own works without the sampler.
  const std::string_view of_batches = type_of(names.batch_sampler);
  const std::string_view sampler =
      of_batches.empty() || of_batches == "BatchSampler" ? type_of(names.sampler) : of_batches;
  if (entry.id == 0) {
    entry.settings = {number(names.num_workers),
                      number(names.prefetch_factor),
                      batch_size_of(loader),
                      number(names.pin_memory),
                      number(names.persistent_workers),
                      integer_attribute(loader, names.in_order, 1),
                      hash_text(type_of(names.sampler), hash_text(dataset))};
    entry.weak_self = weak_reference(loader);
    identify(entry);  // defined again then: how often tells how many loaders it was
  }
  const LoaderSettings& s = entry.settings;
  entry.defined = define<Kind::loader>(entry.id, s.workers, s.prefetch, s.batch_size, s.pin_memory,
                                       s.persistent, s.in_order, dataset, std::int64_t{-1}, sampler);
  define_place(entry);
}

// A loader whose constructor was not seen.
LoaderEntry* add_unseen_loader(const py::Object* self) {
  LoaderEntry* entry = loaders.add(self);
  entry->made_after = iterators.made;
  return entry;
}

// The newest iterator of a loader, in its first epoch.
Iterator* begin_iterator(const py::Object* self, LoaderEntry& loader) {
  Iterator* entry = iterators.add(self);
  entry->id = iterators.made;
  entry->loader = &loader;
  loader.last_iterator = entry->id;
  define<Kind::iterator>(entry->id, loader.id);
  define_epoch(*entry);
  return entry;
}

// The queue of an iterator that is not linked yet: its pin thread starts before its constructor is done.
const py::Object* queue_of_unlinked(const Iterator& iterator) {
  if (iterator.loader->last_iterator != iterator.id || iterator.loader->weak_iterator == nullptr)
    return nullptr;
  const Owned alive(py::api.PyObject_CallObject(iterator.loader->weak_iterator, nullptr));
  if (!alive) py::api.PyErr_Clear();
  if (alive.get() != iterator.self) return nullptr;
  const Owned queue(plain_attribute(alive.get(), names._worker_result_queue));
  return queue.get();
}

}  // namespace

LoaderEntry* add_loader(py::Object* self) {
  LoaderEntry* entry = add_unseen_loader(self);
  entry->origin = origin_of(self);
  return entry;
}

LoaderEntry* find_loader(const py::Object* self) { return loaders.find(self); }

Iterator* find_iterator(const py::Object* self) { return iterators.find(self); }

Iterator* find_iterator_by_queue(const py::Object* queue) {
  return iterators.find_if([queue](Iterator& entry) {
    if (entry.result_queue == nullptr) entry.result_queue = queue_of_unlinked(entry);
    return entry.result_queue == queue;
  });
}

Iterator* add_iterator(py::Object* self, py::Object* loader) {
  LoaderEntry* owner = find_loader(loader);
  // Not each constructor is seen (see iterator_reset): another loader may have its address by now.
  if (owner == nullptr || is_gone(owner->weak_self)) owner = add_unseen_loader(loader);
  owner->places[owner->id != 0] = current_place();
  define_loader(*owner, loader);
  ++torch_iterators;
  owner->exhausted = false;
  const Owned before(std::exchange(owner->weak_iterator, weak_reference(self)));
  return begin_iterator(self, *owner);
}

Iterator* add_other_iterator(const py::Object* self, const py::Object* loader, std::string_view type,
                             std::string_view library) {
  LoaderEntry* owner = find_loader(loader);
  if (owner == nullptr) owner = loaders.add(loader);
  if (!owner->defined) {
    if (owner->id == 0) owner->id = ++loaders_with_epochs;
    owner->defined =
        define<Kind::loader>(owner->id, 0, 0, 0, 0, 0, 1, type, std::int64_t{-1}, std::string_view()) &&
        define<Kind::other_loader>(owner->id, library);
  }
  return begin_iterator(self, *owner);
}

bool has_torch_iterators() { return torch_iterators != 0; }

void note_exhausted(const Iterator& iterator) {
  if (iterator.loader->last_iterator == iterator.id) iterator.loader->exhausted = true;
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
  loaders.forget();
  iterators.forget();
  loaders_with_epochs = torch_iterators = 0;
}

}  // namespace lotus
