#include "python/classify.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "python/frame_handlers.hpp"
#include "python/known_calls.hpp"
#include "python/objects.hpp"
#include "python/recorded_calls.hpp"
#include "python/state_lock.hpp"

namespace lotus {
namespace {

constinit std::span<const Role> known_roles{};

// Quick test on the name alone.
bool may_have_role(std::string_view function) {
  for (const auto& role : known_roles)
    if (function == role.function) return true;
  return false;
}

const Role* find_role(std::string_view function, std::string_view file) {
  for (const auto& role : known_roles)
    if (function == role.function && file.ends_with(role.file)) return &role;
  return nullptr;
}

std::int16_t index_in(py::Object* tuple, std::string_view name) {
  const py::Ssize size = py::api.PyTuple_Size(tuple);
  for (py::Ssize i = 0; i < size && i < 32767; ++i)
    if (text_of(py::api.PyTuple_GetItem(tuple, i)) == name) return static_cast<std::int16_t>(i);
  return -1;
}

const Role* find_role_of_copy(py::Object* code, std::string_view function) {
  const Owned used(py::api.PyObject_GetAttr(code, names.co_names));
  if (!used) return nullptr;
  for (const auto& role : known_roles) {
    bool is_copy = role.marks[0] != nullptr && function == role.function;
    for (const char* mark : role.marks)
      is_copy = is_copy && (mark == nullptr || index_in(used.get(), mark) >= 0);
    if (is_copy) return &role;
  }
  return nullptr;
}

// CodeInfos are of one size and come and go with their code objects: a free list over a fixed arena.
// Free-threaded CPython 3.13 frees no code object that was made while there are threads.
constexpr std::size_t kMaxInfos = 64 * 1024;
union Cell {
  Cell* next;
  alignas(CodeInfo) unsigned char bytes[sizeof(CodeInfo)];
};
constinit Cell* arena = nullptr;
constinit std::size_t arena_used = 0;
constinit Cell* free_cells = nullptr;

CodeInfo* make_info() {
  if (arena == nullptr) {
    void* memory = mmap(nullptr, kMaxInfos * sizeof(Cell), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    arena = static_cast<Cell*>(memory);
  }
  Cell* cell = free_cells;
  if (cell != nullptr)
    free_cells = cell->next;
  else if (arena_used < kMaxInfos)
    cell = &arena[arena_used++];
  return cell == nullptr ? nullptr : new (cell->bytes) CodeInfo;
}

bool ends_with(std::string_view text, std::string_view end) { return text.ends_with(end); }

// Calls of an iterator's function that are looked at before it is known to give no batches.
constexpr unsigned kMostLooks = 16;

constexpr int kGeneratorFlag = 0x20;
constexpr int kGeneratorFlags = 0x20 | 0x80 | 0x200;  // CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR

// Library code whose frames are no operations of the pipeline, but whose callees may be.
constexpr std::string_view kTransparentFiles[] = {"/contextlib.py",
                                                  "/functools.py",
                                                  "/asyncio/base_events.py",
                                                  "/asyncio/events.py",
                                                  "/asyncio/runners.py",
                                                  "/_hook_iterator.py",
                                                  "torch/utils/_contextlib.py",
                                                  "torch/autograd/grad_mode.py",
                                                  "torch/_compile.py",
                                                  "torch/_dynamo/eval_frame.py"};

constexpr std::string_view kIgnoredNames[] = {"__len__",
                                              "__getattr__",
                                              "__getattribute__",
                                              "__setattr__",
                                              "__delattr__",
                                              "__eq__",
                                              "__ne__",
                                              "__hash__",
                                              "__contains__",
                                              "__bool__",
                                              "__iter__",
                                              "__enter__",
                                              "__exit__",
                                              "__del__",
                                              "__repr__",
                                              "__str__",
                                              "__fspath__",
                                              "__instancecheck__",
                                              "__subclasscheck__",
                                              "__new__",
                                              "__lt__",
                                              "__gt__",
                                              "__le__",
                                              "__ge__",
                                              "__int__",
                                              "__index__",
                                              "__float__",
                                              "__get__",
                                              "__set__",
                                              "__missing__",
                                              "__init_subclass__",
                                              "__set_name__",
                                              "__length_hint__"};

constexpr std::string_view kIgnoredFiles[] = {"/posixpath.py",
                                              "/genericpath.py",
                                              "/abc.py",
                                              "/_collections_abc.py",
                                              "/enum.py",
                                              "/typing.py",
                                              "/os.py",
                                              "/random.py",
                                              "/threading.py",
                                              "/queue.py",
                                              "/concurrent/futures/_base.py",
                                              "/concurrent/futures/thread.py",
                                              "/multiprocessing/pool.py",
                                              "/_weakrefset.py",
                                              "/weakref.py",
                                              "/warnings.py",
                                              "/logging/__init__.py",
                                              "/pathlib.py",
                                              "/pathlib/__init__.py",
                                              "/pathlib/_local.py",
                                              "/copyreg.py",
                                              "/re.py",
                                              "/re/__init__.py",
                                              "/fnmatch.py",
                                              "<frozen importlib._bootstrap>",
                                              "<frozen importlib._bootstrap_external>",
                                              "<frozen abc>",
                                              "<frozen posixpath>",
                                              "<frozen genericpath>",
                                              "<frozen os>",
                                              "<frozen _collections_abc>"};

template <std::size_t N>
bool one_of(std::string_view text, const std::string_view (&list)[N]) {
  for (const auto item : list)
    if (text == item) return true;
  return false;
}
template <std::size_t N>
bool ends_with_one_of(std::string_view text, const std::string_view (&list)[N]) {
  for (const auto item : list)
    if (ends_with(text, item)) return true;
  return false;
}

std::uint8_t traits_of(std::string_view name, std::string_view file, std::int64_t flags) {
  std::uint8_t traits = 0;
  if ((flags & kGeneratorFlags) != 0) traits |= kGenerator | kTransparent;
  if (name == "__getitem__") traits |= kGetItem;
  if (name == "__getitems__") traits |= kGetItems;
  if (name == "__next__") traits |= kNext | kTransparent;
  if (name.starts_with('<') && name != "<lambda>") traits |= kTransparent;
  if (ends_with_one_of(file, kTransparentFiles)) traits |= kTransparent;
  if ((traits & (kGenerator | kTransparent)) == 0 &&
      (one_of(name, kIgnoredNames) || ends_with_one_of(file, kIgnoredFiles)))
    traits |= kIgnored;
  return traits;
}

// Where a variable is when the evaluator is called. Up to 3.10 an argument that is also a cell has been moved
// behind the locals by then; -1 if there is no such variable.
std::int16_t place_of(py::Object* code, py::Object* variables, std::string_view name) {
  if (py::layout->cells_are_made_before) {
    const Owned cells(py::api.PyObject_GetAttr(code, names.co_cellvars));
    const std::int16_t cell = cells ? index_in(cells.get(), name) : std::int16_t{-1};
    if (cell >= 0) return static_cast<std::int16_t>(py::api.PyTuple_Size(variables) + cell);
  }
  return index_in(variables, name);
}

std::int64_t code_integer(py::Object* code, py::Object* name) {
  const Owned value(py::api.PyObject_GetAttr(code, name));
  return integer_of(value.get(), 0);
}

py::Ssize size_of(py::Object* code, py::Object* name) {
  const Owned variables(py::api.PyObject_GetAttr(code, name));
  return variables ? py::api.PyTuple_Size(variables.get()) : 0;
}

void find_closed_over(CodeInfo& info, py::Object* code, py::Object* variables) {
  info.closes_over = size_of(code, names.co_freevars) > 0;
  const py::Ssize before = py::api.PyTuple_Size(variables) + size_of(code, names.co_cellvars);
  if (info.closes_over && before < 32767) info.closed_over = static_cast<std::int16_t>(before);
}

void fill(CodeInfo& info, py::Object* code, const Role* role, std::string_view name, std::string_view file) {
  const std::int64_t flags = code_integer(code, names.co_flags);
  const std::int64_t arguments = code_integer(code, names.co_argcount);
  info.role = role;
  info.arguments = static_cast<std::uint8_t>(arguments < 255 ? arguments : 255);
  info.traits = traits_of(name, file, flags);
  const Owned variables(py::api.PyObject_GetAttr(code, names.co_varnames));
  if (!variables) return;
  constexpr std::int64_t kVarArguments = 4;  // CO_VARARGS
  info.takes_any = (flags & kVarArguments) != 0;
  info.first_in_tuple = arguments == 0 && info.takes_any;
  // *args stands behind the arguments that have names.
  const py::Ssize place = info.first_in_tuple ? code_integer(code, names.co_kwonlyargcount) : 0;
  if (arguments > 0 || info.first_in_tuple)
    info.first = place_of(code, variables.get(), text_of(py::api.PyTuple_GetItem(variables.get(), place)));
  find_closed_over(info, code, variables.get());
  if (info.first < 0) info.runner = info.holder = Verdict::no;
  if (role == nullptr) return;
  for (int i = 0; i < 3; ++i)
    if (role->locals[i] != nullptr) info.local[i] = place_of(code, variables.get(), role->locals[i]);
}

CodeInfo* describe_with(py::Object* code, const Role* role) {
  const Owned name(py::api.PyObject_GetAttr(code, names.co_name));
  const Owned file(py::api.PyObject_GetAttr(code, names.co_filename));
  CodeInfo* info = name && file ? make_info() : nullptr;
  if (info != nullptr) fill(*info, code, role, text_of(name.get()), text_of(file.get()));
  py::api.PyErr_Clear();
  return info;
}

}  // namespace

void use_roles(std::span<const Role> roles) { known_roles = roles; }

void* classify(py::Object* code) {
  const Owned name(py::api.PyObject_GetAttr(code, names.co_name));
  const std::string_view text = name ? text_of(name.get()) : std::string_view{};
  const bool iterates = text == "__next__" || text == "__iter__" || text == "next" ||
                        (code_integer(code, names.co_flags) & kGeneratorFlag) != 0;
  const bool named = may_have_role(text);
  if (const Role* const role = region_role(code, text); role != nullptr)
    if (CodeInfo* const info = describe_with(code, role); info != nullptr) return info;
  constexpr std::string_view kCallOfModel = "_call_impl";
  if (!named && !iterates && text != kCallOfModel) return kPlain;
  const Owned file(py::api.PyObject_GetAttr(code, names.co_filename));
  if (file && is_call_of_model(text_of(file.get()), text)) {
    note_call_of_model(code);
    return watched(1);
  }
  if (named) {
    const Role* role = file ? find_role(text, text_of(file.get())) : nullptr;
    if (role == nullptr) role = find_role_of_copy(code, text);
    if (role != nullptr) {
      CodeInfo* info = describe_with(code, role);
      return info != nullptr ? info : kPlain;
    }
  }
  return watched(file && iterates && may_give_batches(text_of(file.get()), text) ? kMostLooks : 0);
}

int local_index(py::Object* code, const char* name) {
  const Owned variables(py::api.PyObject_GetAttr(code, names.co_varnames));
  if (!variables) py::api.PyErr_Clear();
  return variables ? place_of(code, variables.get(), name) : -1;
}

CodeInfo* describe_code(py::Object* code) { return describe_with(code, nullptr); }

void release_code_info(void* extra) {
  if (extra == nullptr || info_in(extra) == nullptr) return;
  const StateLock lock;
  auto* cell = static_cast<Cell*>(extra);
  cell->next = free_cells;
  free_cells = cell;
  known_calls.clear();
  forget_known_operations();
}

}  // namespace lotus
