// CPython as liblotus sees it: functions found by name at attach time, and the few offsets that
// have no function. No Python header is included and nothing of libpython is linked: one library
// serves every interpreter from 3.9 to 3.15, shared or static.
//
// Rules for callers: hold the GIL, and the state lock (state_lock.hpp) where threads run at once; call
// nothing here while a Python exception is pending.
#pragma once

#include <cstddef>
#include <cstdint>

#include "system/hot.hpp"

namespace lotus::py {

struct Object;  // PyObject
struct Type;    // PyTypeObject
struct ThreadState;
struct Frame;  // PyFrameObject up to 3.10, _PyInterpreterFrame from 3.11
struct InterpreterState;

using Evaluator = Object* (*)(ThreadState*, Frame*, int);
using Ssize = std::ptrdiff_t;

// F(result, name, other name or nullptr, parameters). The other name is what a function was called
// before 3.12.
// clang-format off
#define LOTUS_PY_FUNCTIONS(F)                                                                      \
  F(InterpreterState*, PyInterpreterState_Get, nullptr, ())                                        \
  F(Evaluator, _PyInterpreterState_GetEvalFrameFunc, nullptr, (InterpreterState*))                 \
  F(void, _PyInterpreterState_SetEvalFrameFunc, nullptr, (InterpreterState*, Evaluator))           \
  F(Object*, _PyEval_EvalFrameDefault, nullptr, (ThreadState*, Frame*, int))                       \
  F(Ssize, PyUnstable_Eval_RequestCodeExtraIndex, "_PyEval_RequestCodeExtraIndex", (void (*)(void*))) \
  F(int, PyUnstable_Code_GetExtra, "_PyCode_GetExtra", (Object*, Ssize, void**))                   \
  F(int, PyUnstable_Code_SetExtra, "_PyCode_SetExtra", (Object*, Ssize, void*))                    \
  F(Object*, PyObject_GetAttr, nullptr, (Object*, Object*))                                        \
  F(Object*, PyObject_GetAttrString, nullptr, (Object*, const char*))                              \
  F(Object*, _PyObject_GenericGetAttrWithDict, nullptr, (Object*, Object*, Object*, int))          \
  F(Object*, _PyType_Lookup, nullptr, (Type*, Object*))                                            \
  F(unsigned long, PyType_GetFlags, nullptr, (Type*))                                              \
  F(void, PyType_Modified, nullptr, (Type*))                                                       \
  F(Object*, PyType_GenericAlloc, nullptr, (Type*, Ssize))                                         \
  F(Ssize, PyObject_Size, nullptr, (Object*))                                                      \
  F(int, PyCallable_Check, nullptr, (Object*))                                                     \
  F(Object*, PyObject_CallObject, nullptr, (Object*, Object*))                                     \
  F(Object*, PyWeakref_NewRef, nullptr, (Object*, Object*))                                        \
  F(Object*, PyEval_GetFrame, nullptr, ())                                                         \
  F(ThreadState*, PyInterpreterState_ThreadHead, nullptr, (InterpreterState*))                     \
  F(ThreadState*, PyThreadState_Next, nullptr, (ThreadState*))                                     \
  F(Object*, PyFrame_GetBack, nullptr, (Object*))                                                  \
  F(Object*, PyFrame_GetCode, nullptr, (Object*))                                                  \
  F(int, PyFrame_GetLineNumber, nullptr, (Object*))                                                \
  F(void, Py_IncRef, nullptr, (Object*))                                                           \
  F(void, Py_DecRef, nullptr, (Object*))                                                           \
  F(void, PyErr_Clear, nullptr, ())                                                                \
  F(Object*, PyErr_Occurred, nullptr, ())                                                          \
  F(Object*, PyUnicode_InternFromString, nullptr, (const char*))                                   \
  F(const char*, PyUnicode_AsUTF8AndSize, nullptr, (Object*, Ssize*))                              \
  F(Object*, PyUnicode_EncodeFSDefault, nullptr, (Object*))                                        \
  F(int, PyBytes_AsStringAndSize, nullptr, (Object*, char**, Ssize*))                              \
  F(long long, PyLong_AsLongLong, nullptr, (Object*))                                              \
  F(Object*, PyLong_FromLong, nullptr, (long))                                                     \
  F(double, PyFloat_AsDouble, nullptr, (Object*))                                                  \
  F(Object*, PySequence_GetItem, nullptr, (Object*, Ssize))                                        \
  F(Object*, PyBool_FromLong, nullptr, (long))                                                     \
  F(int, PyObject_IsTrue, nullptr, (Object*))                                                      \
  F(Ssize, PyTuple_Size, nullptr, (Object*))                                                       \
  F(Object*, PyTuple_GetItem, nullptr, (Object*, Ssize))                                           \
  F(Ssize, PyList_Size, nullptr, (Object*))                                                        \
  F(Object*, PyList_GetItem, nullptr, (Object*, Ssize))                                            \
  F(int, PyDict_Next, nullptr, (Object*, Ssize*, Object**, Object**))                              \
  F(Object*, PyDict_GetItem, nullptr, (Object*, Object*))                                          \
  F(Object*, PyCell_Get, nullptr, (Object*))                                                       \
  F(int, PyCell_Set, nullptr, (Object*, Object*))                                                  \
  F(Object*, PyFunction_GetCode, nullptr, (Object*))                                               \
  F(Object*, PyFunction_GetClosure, nullptr, (Object*))                                            \
  F(Object*, PyMethod_Function, nullptr, (Object*))                                                \
  F(Object*, PyMethod_Self, nullptr, (Object*))                                                    \
  F(Object*, PyImport_GetModuleDict, nullptr, ())                                                  \
  F(Object*, PyDict_GetItemString, nullptr, (Object*, const char*))                                \
  F(Object*, PyMapping_GetItemString, nullptr, (Object*, const char*))                             \
  F(Object*, Py_CompileString, nullptr, (const char*, const char*, int))                           \
  F(Object*, PyEval_EvalCode, nullptr, (Object*, Object*, Object*))                                \
  F(Object*, PyDict_New, nullptr, ())                                                              \
  F(int, PyDict_SetItemString, nullptr, (Object*, const char*, Object*))                           \
  F(Object*, PySys_GetObject, nullptr, (const char*))                                              \
  F(const char*, Py_GetVersion, nullptr, ())                                                       \
  F(int, Py_AtExit, nullptr, (void (*)()))

// Data symbols. D(name)
#define LOTUS_PY_DATA(D)                                                                           \
  D(PyFunction_Type) D(PyMethod_Type) D(PyCFunction_Type) D(PyMethodDescr_Type) D(PyCell_Type)     \
  D(PyList_Type) D(_Py_NoneStruct) D(PyExc_StopIteration)
// clang-format on

struct Api {
#define LOTUS_PY_F(result, name, other, parameters) result(*name) parameters;
  LOTUS_PY_FUNCTIONS(LOTUS_PY_F)
#undef LOTUS_PY_F
#define LOTUS_PY_D(name) void* name;
  LOTUS_PY_DATA(LOTUS_PY_D)
#undef LOTUS_PY_D
};

// What differs between versions and is not reachable by a function.
struct Layout {
  int minor;                      // of Python 3
  std::ptrdiff_t frame_code;      // code object of a frame, possibly tagged
  std::ptrdiff_t frame_locals;    // first local variable of a frame, possibly tagged
  std::ptrdiff_t frame_function;  // function object of a frame, possibly tagged; -1: it has none
  std::uintptr_t pointer_mask;    // takes the tag off
  bool cells_are_made_before;     // arguments that are cells are moved before the evaluator is called
  std::ptrdiff_t code_extra;      // of a code object: its array of extra values
  std::uintptr_t
      hooked_stack;  // bytes of C stack that hooked calls may use, 0: no limit; see evaluate_deep()
  std::ptrdiff_t function_version;  // of a function object, where keep_visible() is needed; else 0
};

LOTUS_DIRECT extern Api api;
LOTUS_DIRECT extern const Layout* layout;  // nullptr until resolve() succeeded

// The interpreter runs threads at once (or can: Python's own lock may be switched on in it).
LOTUS_DIRECT extern bool free_threaded;
// Bytes by which an object's header is longer there: all that lies in an object comes as much later.
LOTUS_DIRECT extern std::ptrdiff_t header_more;

// Finds every function and the layout of the running interpreter. Returns nullptr, or the one-line
// reason why this interpreter cannot be traced.
const char* resolve();

// ---- Objects (borrowed references throughout) ----

// The 8 bytes at a place in an object, counted as in an interpreter with the GIL.
template <class Word>
inline const Word& word_of(const void* object, std::ptrdiff_t place) {
  return reinterpret_cast<const Word*>(static_cast<const char*>(object) + header_more)[place];
}
inline Type* type_of(const Object* object) { return word_of<Type*>(object, 1); }
// `module.Name` of a static type, `Name` of one made by a class statement.
inline const char* type_name(const Type* type) { return word_of<const char*>(type, 3); }
inline bool is_exactly(const Object* object, const void* type) { return type_of(object) == type; }
inline bool is_none(const Object* object) { return object == api._Py_NoneStruct; }

enum TypeFlag : unsigned long {
  kHasVectorcall = 1ul << 11,
  kLong = 1ul << 24,
  kList = 1ul << 25,
  kTuple = 1ul << 26,
  kBytes = 1ul << 27,
  kUnicode = 1ul << 28,
  kDict = 1ul << 29,
  kType = 1ul << 31,
};
// As PyType_GetFlags() gives them, without the call: tp_flags stands there from 3.9 to 3.15.
inline unsigned long type_flags(const Type* type) { return word_of<unsigned long>(type, 21); }
inline bool is_a(const Object* object, TypeFlag flag) { return (type_flags(type_of(object)) & flag) != 0; }

// tp_version_tag, at the same place from 3.9 to 3.15: another one once the type or a base of it has changed.
// 0: it has none now (3.9 keeps the old one then, and takes a flag off).
inline std::uint32_t type_version(const Type* type) {
  constexpr unsigned long kValidVersion = 1ul << 19;
  const bool valid = layout->minor > 9 || (type_flags(type) & kValidVersion) != 0;
  return valid ? word_of<std::uint32_t>(type, 96) : 0;
}

// tp_base, at the same place from 3.9 to 3.15; nullptr: it is object.
inline const Type* base_of(const Type* type) { return word_of<const Type*>(type, 32); }

// The attributes of a class that a class statement made, by name: tp_dict, at the same place from 3.9
// to 3.15. nullptr: of another one. Borrowed.
inline Object* dictionary_of(const Type* type) {
  constexpr unsigned long kHeapType = 1ul << 9;
  if ((type_flags(type) & kHeapType) == 0) return nullptr;
  Object* const dictionary = word_of<Object*>(type, 33);
  return dictionary != nullptr && is_a(dictionary, kDict) ? dictionary : nullptr;
}

// Of a list or of a subclass's object: what PyList_Size() and PyList_GetItem() give, without the calls.
struct List {  // PyListObject
  Ssize references;
  Type* type;
  Ssize size;
  Object** items;
};
inline const List* list_of(const Object* object) {
  return reinterpret_cast<const List*>(reinterpret_cast<const char*>(object) + header_more);
}

// Python 3.11 inlines a `container[index]` whose __getitem__ is a Python function into the caller, past the
// frame evaluator (the only such case; from 3.12 it checks). It does so only for functions whose version fits
// 16 bits: this gives the function a version of its own that does not. Versions only tell functions apart.
void keep_visible(Object* function);

// From Python 3.12 on, a call of a class with an __init__ of Python's and no allocator of its own is run in
// its caller's loop, past the frame evaluator (3.14 checks again). This gives the class an allocator that
// does what its own did, and has CPython forget what it knew of its calls. Subclasses do not inherit it.
void keep_calls_visible(Type* type);

// ---- Frames ----

inline Object* code_of(const Frame* frame) {
  const auto bits =
      *reinterpret_cast<const std::uintptr_t*>(reinterpret_cast<const char*>(frame) + layout->frame_code);
  return reinterpret_cast<Object*>(bits & layout->pointer_mask);
}
// The value at `index` of a code object's extra array, as PyUnstable_Code_GetExtra gives it, without the
// call.
struct Extra {  // _PyCodeObjectExtra
  Ssize size;
  void* values[1];
};
inline void* extra_of(const Object* code, Ssize index) {
  const auto at = reinterpret_cast<Extra* const*>(reinterpret_cast<const char*>(code) + layout->code_extra);
  const Extra* const extra = __atomic_load_n(at, __ATOMIC_ACQUIRE);
  return extra == nullptr || extra->size <= index ? nullptr
                                                  : __atomic_load_n(&extra->values[index], __ATOMIC_ACQUIRE);
}
// A local by its index in co_varnames; nullptr while unbound (or moved to a cell, up to 3.10).
inline Object* local_of(const Frame* frame, int index) {
  const auto* locals =
      reinterpret_cast<const std::uintptr_t*>(reinterpret_cast<const char*>(frame) + layout->frame_locals);
  return reinterpret_cast<Object*>(locals[index] & layout->pointer_mask);
}

// The function object whose call the frame is; nullptr: not known.
inline Object* function_of(const Frame* frame) {
  if (layout->frame_function < 0) return nullptr;
  const auto bits =
      *reinterpret_cast<const std::uintptr_t*>(reinterpret_cast<const char*>(frame) + layout->frame_function);
  return reinterpret_cast<Object*>(bits & layout->pointer_mask);
}

// Puts a value in the place of a local that is bound, in a frame that does not run yet.
void set_local(Frame* frame, int index, Object* value);

}  // namespace lotus::py
