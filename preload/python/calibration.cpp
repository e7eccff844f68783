#include "python/calibration.hpp"

#include <algorithm>

#include "python/call_costs.hpp"
#include "python/code_info.hpp"
#include "python/context.hpp"
#include "python/evaluator.hpp"
#include "python/known_calls.hpp"
#include "python/objects.hpp"
#include "python/python_calls.hpp"
#include "record/setting.hpp"
#include "system/clock.hpp"

namespace lotus {
namespace {

// No name of it is looked up in the builtins: they may not be there in a dictionary of our own.
constexpr char kProgram[] =
    "def called(x):\n"
    "    return x\n"
    "def calls():\n"
    "    n = 25\n"
    "    while n:\n"
    "        n -= 1\n"
    "        called(n); called(n); called(n); called(n)\n";
constexpr std::uint64_t kCalls = 100;
constexpr int kWholeFile = 257;  // Py_file_input
constexpr int kRounds = 9;
constexpr int kWarmUp = 12;  // rounds before: CPython 3.11 specialises code that ran 8 times, step by step

// Python code that watches Python code would see ours.
bool is_watched() {
  for (const char* name : {"gettrace", "getprofile"}) {
    py::Object* function = py::api.PySys_GetObject(name);
    const Owned watcher(function != nullptr ? py::api.PyObject_CallObject(function, nullptr) : nullptr);
    if (!watcher || !py::is_none(watcher.get())) return true;
  }
  return false;
}

// The program, with code of its own: CPython specialises code for the way in which it is evaluated.
class Program {
 public:
  Program()
      : code_(py::api.Py_CompileString(kProgram, "<lotus>", kWholeFile)),
        globals_(py::api.PyDict_New()),
        done_(code_ && globals_ ? py::api.PyEval_EvalCode(code_.get(), globals_.get(), globals_.get())
                                : nullptr) {}
  explicit operator bool() const { return calls() != nullptr && called() != nullptr; }
  py::Object* calls() const { return function("calls"); }
  py::Object* called() const { return function("called"); }

  std::uint64_t ticks() const {
    py::Object* const all = calls();
    const std::uint64_t begin = ticks_now();
    const Owned result(py::api.PyObject_CallObject(all, nullptr));
    return ticks_now() - begin;
  }

 private:
  py::Object* function(const char* name) const {
    return done_ ? py::api.PyDict_GetItemString(globals_.get(), name) : nullptr;
  }
  Owned code_, globals_, done_;
};

// As a function that plays no role, as nearly all are. One that is not known would be asked for its name,
// which would be the process's first record. False: there is no room.
bool make_known(py::Object* function, const Context& context) {
  py::Object* code = py::api.PyFunction_GetCode(function);
  const CodeInfo* info = info_of(code);
  if (info != nullptr) known_calls.add(code, *info, 0);
  return known_calls.find(code).plays_no_role_in(context);
}

class Differences {
 public:
  void add(std::uint64_t with, std::uint64_t without) {
    values_[count_++] = static_cast<std::int64_t>(with - without);
  }
  // Of a call: the median, since what interrupts makes single rounds longer.
  std::uint64_t picoseconds() {
    std::sort(values_, values_ + count_);
    const std::int64_t ticks = count_ > 0 ? values_[count_ / 2] : 0;
    return ticks <= 0
               ? 0
               : static_cast<std::uint64_t>(ticks) * 1'000'000 / (ticks_per_second() / 1'000'000) / kCalls;
  }

 private:
  std::int64_t values_[kRounds] = {};
  int count_ = 0;
};

// In turns, so that a change of the machine's speed is in all.
void measure(bool sampled) {
  const Program bare, outside, inside;
  Context context(Context::Kind::opaque);
  if (!bare || !outside || !inside) return;
  if (!make_known(inside.calls(), context) || !make_known(inside.called(), context)) return;
  Differences out, in;
  for (int round = -kWarmUp; round < kRounds; ++round) {
    use_evaluator(false);
    const std::uint64_t without = bare.ticks();
    use_evaluator(true);
    const std::uint64_t with = outside.ticks();
    const Setting names(snapshots_on, sampled);
    const ContextScope scope(context);
    const std::uint64_t with_context = inside.ticks();
    if (round < 0) continue;
    out.add(with, without);
    in.add(with_context, without);
  }
  call_costs = {out.picoseconds(), in.picoseconds()};
}

}  // namespace

void measure_call_costs(bool sampled) {
  if (!is_watched()) measure(sampled);
  use_evaluator(true);
  known_calls.clear();  // without names
  py::api.PyErr_Clear();
  python_thread.calls_outside = python_thread.calls_inside = 0;
}

}  // namespace lotus
