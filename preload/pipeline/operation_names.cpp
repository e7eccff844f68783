#include "pipeline/operation_names.hpp"

#include <algorithm>
#include <cstring>

#include "counters/wanted.hpp"
#include "pipeline/callable.hpp"
#include "pipeline/known_operations.hpp"
#include "python/code_names.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"
#include "system/hash.hpp"
#include "system/hot.hpp"

namespace lotus {
namespace {

struct Definition {
  const void* key = nullptr;  // type, code object (of what a wrapper wraps) or native callable
  OpRole role{};
  std::uint32_t name_hash = 0;  // tells a reused address apart
  std::uint32_t id = 0;
  bool sent =
      false;  // else there was no room: it is sent at its next use, its records have their number already
};
// Open addressing; ids count the entries made.
constinit Definition table[kMaxDefinitions * 2] = {};
constinit Definition* by_id[kMaxDefinitions] = {};
// What is read and written at each call stands side by side, by id.
struct Timing {
  std::uint64_t mean_ticks = 0;
  std::uint32_t unmeasured = 0;  // calls to let pass before one's CPU time is measured
  std::uint32_t measured = 0;
};
LOTUS_HOT constinit Timing timings[kMaxDefinitions] = {};
constinit std::uint32_t made = 0;
constinit bool others_sent[static_cast<std::size_t>(OpRole::runner) + 1] = {};

std::string_view after_last_dot(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot != std::string_view::npos) name.remove_prefix(dot + 1);
  return name;
}

Definition* find_entry(const void* key, OpRole role, std::uint32_t name_hash) {
  std::size_t at =
      (reinterpret_cast<std::uintptr_t>(key) >> 4) * 0x9e3779b9u + static_cast<std::size_t>(role);
  for (std::size_t probe = 0; probe < std::size(table); ++probe, ++at) {
    Definition& entry = table[at % std::size(table)];
    if (entry.id == 0 || (entry.key == key && entry.role == role && entry.name_hash == name_hash))
      return &entry;
  }
  return nullptr;
}

// What a definition says, gathered from Python objects.
struct Description {
  std::string_view name, qualified, file;
  std::int64_t line = 0;
};

std::string_view name_of(OpRole role, std::string_view own) {
  if (role == OpRole::loader) return "Loader";
  if (role == OpRole::collate) return "Collation";
  return own;
}

// The number of all operations of this role that came when the table was full.
std::uint32_t definition_of_others(OpRole role) {
  const auto at = static_cast<std::uint32_t>(role);
  const std::uint32_t id = kMaxDefinitions + at;
  const std::string_view own = role == OpRole::runner ? "(other runners)" : "(other operations)";
  if (!others_sent[at])
    others_sent[at] = define<Kind::op_def>(id, at, name_of(role, own), std::string_view(), std::string_view(),
                                           std::int64_t{0});
  return id;
}

bool is_full() { return made + 1 >= kMaxDefinitions; }

std::uint32_t add(const void* key, OpRole role, std::uint32_t name_hash, const Description& text) {
  // Found anew: what the text was gathered from may have run operations.
  Definition* const entry = find_entry(key, role, name_hash);
  if (entry == nullptr || (entry->id == 0 && is_full())) return definition_of_others(role);
  const std::uint32_t id = entry->id != 0 ? entry->id : made + 1;
  const bool sent = define<Kind::op_def>(id, static_cast<std::uint32_t>(role), name_of(role, text.name),
                                         text.qualified, text.file, text.line);
  if (entry->id != 0) {
    entry->sent = sent;
    return id;
  }
  // In this order: a thread without the GIL may fork here, and the child forgets what was made.
  by_id[id] = entry;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  made = id;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  *entry = {key, role, name_hash, id, sent};
  return id;
}

// module + "." + qualname of a class, function or method, into `buffer`.
std::string_view qualify(py::Object* object, char* buffer, std::size_t size) {
  const Owned module(py::api.PyObject_GetAttr(object, names.__module__));
  py::api.PyErr_Clear();
  const Owned qualname(py::api.PyObject_GetAttr(object, names.__qualname__));
  py::api.PyErr_Clear();
  std::size_t used = 0;
  const auto append = [&](std::string_view text) {
    const std::size_t bytes = text.size() < size - used ? text.size() : size - used;
    std::memcpy(buffer + used, text.data(), bytes);
    used += bytes;
  };
  const std::string_view module_text = text_of(module.get());
  if (!module_text.empty()) {
    append(module_text);
    append(".");
  }
  append(text_of(qualname.get()));
  return {buffer, used};
}

// The function object behind a frame, for its qualified name up to 3.10: a method of the first argument's
// class or a global of that name.
py::Object* function_of(Call& call, py::Object* name) {
  py::Object* first = first_argument(call);
  if (first != nullptr) {
    py::Object* method = py::api._PyType_Lookup(py::type_of(first), name);
    if (method != nullptr && py::is_exactly(method, py::api.PyFunction_Type) &&
        py::api.PyFunction_GetCode(method) == call.code)
      return method;
  }
  return nullptr;
}

std::uint32_t define_function(Call& call, py::Object* function, OpRole role, std::uint32_t name_hash) {
  const CodeText code(call.code);
  const Owned name(py::api.PyObject_GetAttr(call.code, names.co_name));
  if (function == nullptr) function = py::function_of(call.frame);
  if (function == nullptr && name) function = function_of(call, name.get());
  const Owned qualname(function != nullptr ? py::api.PyObject_GetAttr(function, names.__qualname__)
                                           : nullptr);
  py::api.PyErr_Clear();
  char buffer[512];
  Description text;
  text.name = qualname ? text_of(qualname.get()) : code.name();
  text.qualified = function != nullptr ? qualify(function, buffer, sizeof buffer) : text.name;
  text.file = code.file();
  text.line = code.line();
  return add(call.code, role, name_hash, text);
}

// `outer(inner)`, into `buffer`.
std::string_view name_both(std::string_view outer, std::string_view inner, char* buffer, std::size_t size) {
  std::size_t used = 0;
  for (const std::string_view part : {outer, std::string_view("("), inner, std::string_view(")")}) {
    const std::size_t bytes = std::min(part.size(), size - used);
    std::memcpy(buffer + used, part.data(), bytes);
    used += bytes;
  }
  return {buffer, used};
}

// A function that a decorator made: by the name of what it decorates, which functools.wraps gave it, else by
// both: `wrapper(resize)`.
std::uint32_t define_wrapped(const Call& call, py::Object* function, py::Object* wrapped, OpRole role,
                             std::uint32_t name_hash) {
  if (function == nullptr) function = py::function_of(call.frame);
  const CodeText outer(call.code);
  const CodeText inner(py::api.PyFunction_GetCode(wrapped));
  const std::string_view outer_name = after_last_dot(outer.name());
  const Owned own(function != nullptr ? py::api.PyObject_GetAttr(function, names.__qualname__) : nullptr);
  const Owned its(py::api.PyObject_GetAttr(wrapped, names.__qualname__));
  py::api.PyErr_Clear();
  const bool renamed = own && after_last_dot(text_of(own.get())) != outer_name;
  char name[256], qualified[512];
  Description text;
  text.name = renamed ? text_of(own.get()) : name_both(outer_name, text_of(its.get()), name, sizeof name);
  text.qualified = qualify(renamed ? function : wrapped, qualified, sizeof qualified);
  text.file = inner.file();
  text.line = inner.line();
  return add(py::api.PyFunction_GetCode(wrapped), role, name_hash, text);
}

std::uint32_t define_type(const Call& call, py::Type* type, OpRole role, std::uint32_t name_hash) {
  char buffer[512];
  Description text;
  text.name = after_last_dot(py::type_name(type));
  text.qualified = qualify(reinterpret_cast<py::Object*>(type), buffer, sizeof buffer);
  // A module's __call__ is PyTorch's: what tells its reader more is where its `forward` stands.
  py::Object* forward = py::api._PyType_Lookup(type, names.forward);
  const bool has_forward = forward != nullptr && py::is_exactly(forward, py::api.PyFunction_Type);
  const CodeText code(has_forward ? py::api.PyFunction_GetCode(forward) : call.code);
  text.file = code.file();
  text.line = code.line();
  return add(type, role, name_hash, text);
}

// Another code object may have lain at this address before.
std::uint32_t hash_code(py::Object* code) {
  const CodeText text(code);
  return (hash_text(text.name()) * 31 + hash_text(text.file())) * 31 +
         static_cast<std::uint32_t>(text.line());
}

bool is_callable_object(py::Object* callable) {
  return callable != nullptr && !py::is_exactly(callable, py::api.PyFunction_Type) &&
         !py::is_exactly(callable, py::api.PyMethod_Type) && called_by(callable) == nullptr;
}

// The class that names a callable object; a class among the callables is called by its own name.
py::Type* named_type(py::Object* callable) {
  return py::is_a(callable, py::kType) ? reinterpret_cast<py::Type*>(callable) : py::type_of(callable);
}

}  // namespace

std::uint32_t definition_of(Call& call, py::Object* callable, OpRole role) {
  // An object is named by its class, everything else by the function that runs.
  const bool by_class = is_callable_object(callable);
  py::Type* const type = by_class ? named_type(callable) : nullptr;
  py::Object* const wrapped = by_class ? nullptr : wrapped_function(call);
  py::Object* const code = wrapped != nullptr ? py::api.PyFunction_GetCode(wrapped) : call.code;
  const void* key = by_class ? static_cast<const void*>(type) : code;
  if (call.info->key == key && call.info->generation == process.generation &&
      call.info->key_definition != 0 && by_id[call.info->key_definition]->role == role) {
    const auto& entry = *by_id[call.info->key_definition];
    if (!by_class || entry.name_hash == hash_text(py::type_name(type))) return entry.id;
  }
  if (current_thread() == nullptr) return 0;
  const std::uint32_t name_hash = by_class ? hash_text(py::type_name(type)) : hash_code(code);
  const Definition* entry = find_entry(key, role, name_hash);
  if (entry == nullptr || (entry->id == 0 && is_full())) return definition_of_others(role);
  std::uint32_t id = entry->id;
  if (!entry->sent && by_class) id = define_type(call, type, role, name_hash);
  if (!entry->sent && !by_class) {
    py::Object* function =
        callable != nullptr && py::is_exactly(callable, py::api.PyFunction_Type) ? callable : nullptr;
    id = wrapped != nullptr ? define_wrapped(call, function, wrapped, role, name_hash)
                            : define_function(call, function, role, name_hash);
  }
  if (id < kMaxDefinitions && is_defined(id)) {
    call.info->key = key;
    call.info->key_definition = id;
    call.info->generation = process.generation;
  }
  return id;
}

std::uint32_t definition_of_native(py::Object* callable, const void* key, OpRole role) {
  if (current_thread() == nullptr) return 0;
  const Definition* entry = find_entry(key, role, 0);
  if (entry == nullptr || (entry->id == 0 && is_full())) return definition_of_others(role);
  if (entry->sent) return entry->id;
  const Owned name(py::api.PyObject_GetAttr(callable, names.__name__));
  py::api.PyErr_Clear();
  char buffer[512];
  Description text;
  text.name = name ? text_of(name.get()) : after_last_dot(py::type_name(py::type_of(callable)));
  text.qualified = name ? qualify(callable, buffer, sizeof buffer) : text.name;
  return add(key, role, 0, text);
}

bool is_defined(std::uint32_t definition) {
  if (definition >= kMaxDefinitions) return true;
  return by_id[definition] != nullptr && by_id[definition]->sent;
}

bool measure_this(std::uint32_t definition) {
  if (definition == 0 || definition >= kMaxDefinitions) return false;
  Timing& timing = timings[definition];
  constexpr std::uint64_t kReadsTicks = 1000;  // two reads of the thread CPU clock, out of all caches: 6 µs
  constexpr std::uint64_t kShare = 2000;       // 1 / 0.05 %
  constexpr std::uint64_t kShareOfCounts = 500;  // with counters: 0.2 % in all
  // At this system call the kernel takes the CPU away from a thread whose time slice is over: read after each
  // operation that is shorter than a slice, the clock would move time from operations to what lies between
  // them.
  constexpr std::uint64_t kLongTicks = 1'000'000;  // some 6 ms
  constexpr std::uint64_t kSeldom = 32;
  constexpr std::uint32_t kMany = 64;  // what is known by so many occurrences need not be measured as often
  constexpr std::uint64_t kLater = 8;
  const std::uint64_t mean = timing.mean_ticks;
  if (mean == 0) return false;  // the first call of a process is like no other
  if (mean > kLongTicks) return true;
  if (timing.unmeasured > 0) {
    --timing.unmeasured;
    return false;
  }
  const std::uint64_t cost =
      (counters_on ? (kReadsTicks + kCountsTicks) * kShareOfCounts : kReadsTicks * kShare) / mean;
  const std::uint64_t every = (cost < kSeldom ? kSeldom : cost) * (timing.measured < kMany ? 1 : kLater);
  ++timing.measured;
  // The distance varies: workers that live for an epoch would else measure the same places in each.
  timing.unmeasured = static_cast<std::uint32_t>((ticks_now() * 0x9e3779b97f4a7c15 >> 32) % (2 * every - 1));
  return true;
}

bool is_first_call(std::uint32_t definition) {
  return definition != 0 && definition < kMaxDefinitions && timings[definition].mean_ticks == 0;
}

void learn_duration(std::uint32_t definition, std::uint64_t ticks) {
  if (definition == 0 || definition >= kMaxDefinitions) return;
  // Follows short calls faster than long ones: the first call is often slow, others lose their core for a
  // while.
  std::uint64_t& mean = timings[definition].mean_ticks;
  mean = mean == 0 ? ticks : ticks < mean ? (mean + ticks) / 2 : (mean * 15 + ticks) / 16;
}

// Writes to what was used only: in a forked child, a page that is written to is copied.
void forget_operation_names() {
  known_operations.clear();
  for (std::uint32_t id = 1; id <= made; ++id) {
    *by_id[id] = {};
    by_id[id] = nullptr;
    timings[id] = {};
  }
  made = 0;
  for (bool& sent : others_sent)
    if (sent) sent = false;
}

}  // namespace lotus
