#include "operators/compilations.hpp"

#include <string_view>

#include "python/objects.hpp"
#include "python/recorded_calls.hpp"
#include "record/recorder.hpp"

namespace lotus {
namespace {

constexpr std::uint64_t kNotKnown = ~std::uint64_t{0};
constexpr std::size_t kMostText = 480;    // bytes of a reason
constexpr py::Ssize kMostKept = 1 << 16;  // of either list; PyTorch keeps 64 compilations

// Where PyTorch keeps it, from 2.1 on. What a version lacks is not known.
constexpr const char* kModule = "torch._dynamo.utils";
// clang-format off
#define LOTUS_COMPILER_NAMES(N) \
  N(graph_break_reasons) N(reason) N(user_stack) N(filename) N(lineno) N(name) N(_compilation_metrics) N(co_name) \
  N(co_filename) N(co_firstlineno) N(entire_frame_compile_time_s) N(guard_count) N(guard_latency_us) \
  N(graph_op_count) N(recompile_reason) N(cache_size) N(fail_type) N(fail_reason)
// clang-format on

struct CompilerNames {
#define LOTUS_COMPILER_NAME(name) py::Object* name;
  LOTUS_COMPILER_NAMES(LOTUS_COMPILER_NAME)
#undef LOTUS_COMPILER_NAME
  bool made;
};
constinit CompilerNames known{};

bool make_names() {
  if (known.made) return true;
#define LOTUS_COMPILER_NAME(name)                         \
  known.name = py::api.PyUnicode_InternFromString(#name); \
  if (known.name == nullptr) return false;
  LOTUS_COMPILER_NAMES(LOTUS_COMPILER_NAME)
#undef LOTUS_COMPILER_NAME
  return known.made = true;
}

struct Told {
  py::Ssize breaks;         // of the list, which torch._dynamo.reset() clears
  py::Object* compilation;  // the last one, held so that no other one comes to lie at its address
};
constinit Told told{};

// A str attribute, as long as this lives.
class Text {
 public:
  Text(py::Object* object, py::Object* name) : value_(plain_attribute(object, name)) {}
  std::string_view get() const {
    if (!value_ || !py::is_a(value_.get(), py::kUnicode)) return {};
    const std::string_view text = text_of(value_.get());
    if (text.size() <= kMostText) return text;
    std::size_t size = kMostText;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0u) == 0x80u) --size;
    return text.substr(0, size);
  }

 private:
  Owned value_;
};

std::uint64_t count_of(py::Object* object, py::Object* name, std::uint64_t fallback) {
  const std::int64_t value = integer_attribute(object, name, -1);
  return value < 0 ? fallback : static_cast<std::uint64_t>(value);
}

// A time in units of `unit` ns, an int or a float of Python's, in ns.
std::uint64_t time_of(py::Object* object, py::Object* name, double unit, std::uint64_t fallback) {
  constexpr double kMost = 1e18;
  const Owned value(plain_attribute(object, name));
  if (!value || py::is_none(value.get())) return fallback;
  const char* const type = py::type_name(py::type_of(value.get()));
  if (!py::is_a(value.get(), py::kLong) && std::string_view(type) != "float") return fallback;
  const double time = unit * py::api.PyFloat_AsDouble(value.get());
  py::api.PyErr_Clear();
  return time >= 0 && time < kMost ? static_cast<std::uint64_t>(time) : fallback;
}

// The function that was in the graph, the innermost one where several were.
bool tell_break(std::uint64_t region, py::Object* broken) {
  const Text reason(broken, known.reason);
  const Owned stack(plain_attribute(broken, known.user_stack));
  const py::Ssize frames = stack && py::is_a(stack.get(), py::kList) ? py::api.PyList_Size(stack.get()) : 0;
  py::Object* const frame = frames > 0 ? py::api.PyList_GetItem(stack.get(), frames - 1) : nullptr;
  if (frame == nullptr)
    return define<Kind::graph_break>(region, std::string_view(), std::string_view(), std::uint64_t{0},
                                     reason.get());
  const Text function(frame, known.name), file(frame, known.filename);
  return define<Kind::graph_break>(region, function.get(), file.get(), count_of(frame, known.lineno, 0),
                                   reason.get());
}

bool tell_compilation(std::uint64_t region, py::Object* one) {
  constexpr double kSecond = 1e9, kMicrosecond = 1e3;
  const Text function(one, known.co_name), file(one, known.co_filename);
  const Text why(one, known.recompile_reason), failed(one, known.fail_reason), failure(one, known.fail_type);
  // Versions that do not say why know at least that there was code of this function.
  const bool again = integer_attribute(one, known.cache_size, 0) > 0;
  return define<Kind::compilation>(region, function.get(), file.get(), count_of(one, known.co_firstlineno, 0),
                                   time_of(one, known.entire_frame_compile_time_s, kSecond, kNotKnown),
                                   count_of(one, known.guard_count, kNotKnown),
                                   time_of(one, known.guard_latency_us, kMicrosecond, kNotKnown),
                                   count_of(one, known.graph_op_count, kNotKnown),
                                   why.get().empty() && again ? std::string_view("not said") : why.get(),
                                   failed.get().empty() ? failure.get() : failed.get());
}

void tell_breaks(std::uint64_t region, py::Object* list) {
  if (!py::is_a(list, py::kList)) return;
  const py::Ssize size = py::api.PyList_Size(list);
  if (size < told.breaks) told.breaks = 0;
  for (; told.breaks < size && size < kMostKept; ++told.breaks) {
    py::Object* const broken = py::api.PyList_GetItem(list, told.breaks);
    if (broken == nullptr || !tell_break(region, broken)) return;
  }
}

// A deque: the oldest ones fall out of it.
void tell_all(std::uint64_t region, py::Object* kept) {
  const py::Ssize size = py::api.PyObject_Size(kept);
  if (size <= 0 || size >= kMostKept) return;
  const auto at = [kept](py::Ssize index) { return py::api.PySequence_GetItem(kept, index); };
  py::Ssize first = size;
  for (; first > 0; --first) {
    const Owned one(at(first - 1));
    if (!one || one.get() == told.compilation) break;
  }
  for (; first < size; ++first) {
    py::Object* const one = at(first);
    if (one == nullptr) return;
    if (!tell_compilation(region, one)) return py::api.Py_DecRef(one);
    if (told.compilation != nullptr) py::api.Py_DecRef(told.compilation);
    told.compilation = one;
  }
}

}  // namespace

void tell_compilations(std::uint64_t region) {
  if (py::api.PyErr_Occurred() != nullptr) return;
  py::Object* const module = loaded_module(kModule);
  if (module != nullptr && current_thread() != nullptr && make_names()) {
    const Owned breaks(plain_attribute(module, known.graph_break_reasons));
    if (breaks) tell_breaks(region, breaks.get());
    const Owned kept(plain_attribute(module, known._compilation_metrics));
    if (kept) tell_all(region, kept.get());
  }
  py::api.PyErr_Clear();
}

CompilingScope::CompilingScope()
    : paused_(step_lane.recording && step_lane.generation == process.generation),
      sees_calls_(sees_every_call()),
      generation_(process.generation) {
  if (!paused_) return;
  step_lane.recording = false;
  see_no_more_calls();
}

CompilingScope::~CompilingScope() {
  if (!paused_ || generation_ != process.generation) return;
  step_lane.recording = true;
  if (sees_calls_) see_every_call();
}

}  // namespace lotus
