#include "python/free_threading.hpp"

#include "python/shared_api.hpp"
#include "python/state_lock.hpp"
#include "record/process.hpp"

namespace lotus::py {

namespace {

Object* held(Object* object) {
  give_back_later(object);
  return object;
}

// An object's own lock, which who waits for it may hold already, without being there: the interpreter stops
// its threads for a fork, not one that is about to wake up with a lock in its hand. So a forked child may
// find locks held for ever. The program's child meets those of the program's objects by itself; of others, as
// the dictionary of modules, nothing is asked then.
bool is_held_for_ever(const Object* object) {
  constexpr std::size_t kLock = 10;  // PyObject.ob_mutex
  const char* const lock = reinterpret_cast<const char*>(object) + kLock;
  return process.generation != 0 && __atomic_load_n(lock, __ATOMIC_RELAXED) != 0;
}

// As PyDict_GetItem(): no errors.
Object* found_or_none(int result, Object* object) {
  if (result < 0) api.PyErr_Clear();
  return held(object);
}

Object* dict_item(Object* dictionary, Object* key) {
  if (is_held_for_ever(dictionary)) return nullptr;
  Object* found = nullptr;
  const int result = shared_api.PyDict_GetItemRef(dictionary, key, &found);
  return found_or_none(result, found);
}

Object* dict_item_by_text(Object* dictionary, const char* key) {
  if (is_held_for_ever(dictionary)) return nullptr;
  Object* found = nullptr;
  const int result = shared_api.PyDict_GetItemStringRef(dictionary, key, &found);
  return found_or_none(result, found);
}

Object* list_item(Object* list, Ssize index) { return held(shared_api.PyList_GetItemRef(list, index)); }

Object* look_up(Type* type, Object* name) { return held(shared_api._PyType_LookupRef(type, name)); }

}  // namespace

bool use_shared_objects() {
  if (!find_shared_api()) return false;
  api.Py_DecRef = give_back_later;
  api.PyDict_GetItem = dict_item;
  api.PyDict_GetItemString = dict_item_by_text;
  api.PyList_GetItem = list_item;
  api._PyType_Lookup = look_up;
  return true;
}

Object* copy_of_items(Object* container) {
  Object* const copy =
      is_a(container, kDict) ? shared_api.PyDict_Values(container) : shared_api.PyList_AsTuple(container);
  if (copy == nullptr) api.PyErr_Clear();
  return copy;
}

Object* item_of_shared(Object* list, Ssize index) {
  if (index >= list_of(list)->size || api.PyErr_Occurred() != nullptr) return nullptr;
  Object* const item = list_item(list, index);
  if (item == nullptr) api.PyErr_Clear();  // it has become shorter
  return item;
}

bool publish_extra(Object* code, Ssize index, void* value) {
  Extra** const at = reinterpret_cast<Extra**>(reinterpret_cast<char*>(code) + layout->code_extra);
  Extra* array = __atomic_load_n(at, __ATOMIC_ACQUIRE);
  if (array == nullptr || array->size <= index) {
    const auto size = static_cast<std::size_t>(index) + 1;
    auto* const made = static_cast<Extra*>(shared_api.PyMem_Malloc(sizeof(Ssize) + size * sizeof(void*)));
    if (made == nullptr) return false;
    made->size = index + 1;
    for (Ssize i = 0; i <= index; ++i)
      made->values[i] = array != nullptr && i < array->size ? array->values[i] : nullptr;
    // The one before, which is another tool's, is not freed: it may be read right now.
    if (!__atomic_compare_exchange_n(at, &array, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return false;  // that tool made one: next time
    array = made;
  }
  __atomic_store_n(&array->values[index], value, __ATOMIC_RELEASE);
  return true;
}

}  // namespace lotus::py
