// Where liblotus.so comes into a process: its constructor, CPython's audit events, fork.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "life/arrival.hpp"
#include "life/autostart.hpp"
#include "life/config.hpp"
#include "life/first_event.hpp"
#include "life/leaving.hpp"
#include "life/wait_for_trace.hpp"
#include "native/interposed.hpp"
#include "native/torch_ops.hpp"
#include "operators/offload.hpp"
#include "operators/step_lane.hpp"
#include "pipeline/dataset_calls.hpp"
#include "pipeline/handlers.hpp"
#include "pipeline/iterators.hpp"
#include "pipeline/operation_names.hpp"
#include "pipeline/other_loaders.hpp"
#include "pipeline/plain_operations.hpp"
#include "pipeline/process_start.hpp"
#include "pipeline/role_table.hpp"
#include "python/audit_hook.hpp"
#include "python/calibration.hpp"
#include "python/code_names.hpp"
#include "python/evaluator.hpp"
#include "python/interpreter.hpp"
#include "python/python_thread.hpp"
#include "python/recorded_calls.hpp"
#include "python/state_lock.hpp"
#include "record/process.hpp"
#include "sampling/sampler.hpp"
#include "system/clock.hpp"
#include "system/loaded.hpp"
#include "system/loader.hpp"
#include "system/log.hpp"
#include "system/mark.hpp"
#include "system/thread_stack.hpp"

extern "C" [[gnu::visibility("hidden")]] void* __dso_handle;  // of this library

namespace lotus {
namespace {

constinit bool attached = false;

// Before attach() only these are known: enough to read the name of a module.
struct Names {
  py::Object* (*tuple_item)(py::Object*, py::Ssize);
  const char* (*utf8)(py::Object*, py::Ssize*);
  void (*clear_error)();
  py::InterpreterState* (*interpreter)();
  py::InterpreterState* (*main_interpreter)();
  bool complete;
};
constinit Names reading{};

bool can_read_names() {
  if (!reading.complete)
    reading.complete = py::find(reading.tuple_item, "PyTuple_GetItem") &&
                       py::find(reading.utf8, "PyUnicode_AsUTF8AndSize") &&
                       py::find(reading.clear_error, "PyErr_Clear") &&
                       (py::find(reading.interpreter, "PyInterpreterState_Get") ||
                        py::find(reading.interpreter, "_PyInterpreterState_Get")) &&  // CPython 3.8's
                       py::find(reading.main_interpreter, "PyInterpreterState_Main");
  return reading.complete;
}

// A subinterpreter may go at any time, with all that was learned in it: it is left alone.
bool imports_torch(py::Object* arguments) {
  if (arguments == nullptr || !can_read_names()) return false;
  py::Object* name = reading.tuple_item(arguments, 0);
  const char* text = name != nullptr ? reading.utf8(name, nullptr) : nullptr;
  if (text == nullptr) {  // no string, or one with lone surrogates
    reading.clear_error();
    return false;
  }
  return std::strcmp(text, "torch") == 0 && reading.interpreter() == reading.main_interpreter();
}

void in_forked_child() {
  forget_state_lock();
  become_child();
  note_process_start();
  forget_code_names();
  forget_operation_names();
  forget_plain_operations();
  forget_iterators();
  take_evaluator_back();
  forget_python_thread();
  forget_worker_role();
  forget_loader_role();
  forget_transfer_role();
  forget_pools();
  forget_dataset_calls();
  forget_other_loaders();
  forget_step();
  resume_samples();
}

// pthread_atfork() of libpthread is this one of glibc; musl has not got it, and could not load a library that
// needs it.
using RegisterAtFork = int (*)(void (*)(), void (*)(), void (*)(), void*);

// At the import of torch, before its first line runs: Dynamo must find our evaluator, not we Dynamo's.
void attach() {
  read_config();
  if (config.off) return;
  const auto at_fork = reinterpret_cast<RegisterAtFork>(global_symbol("__register_atfork"));
  const bool is_glibc = at_fork != nullptr && find_thread_functions();
  const char* problem = is_glibc ? py::resolve() : "the C library is not glibc";
  const StateLock lock;
  if (problem == nullptr) {
    choose_clock();
    problem = install_evaluator(role_table());
  }
  if (problem != nullptr) {
    // The process that first met the problem tells; its descendants would only repeat it.
    switch_off(OffReason::none, problem);
    return;
  }
  // A program that Ctrl-C ends finishes Python, and then kills itself: no destructor runs.
  py::api.Py_AtExit(say_leaving);
  note_import_of_torch();
  measure_call_costs(config.sampling.hz != 0);
  at_fork(hold_samples, resume_samples, in_forked_child, &__dso_handle);
  choose_torch_ops(config.torch_ops);
  // A plan that is carried out is measured in all steps.
  const RecordedSteps steps = wants_offload() ? RecordedSteps::all : config.steps;
  choose_steps(steps);
  if (config.region != nullptr) {
    leave_steps_to_regions(config.steps != RecordedSteps::none);
    choose_region(config.region, config.steps);
  }
  if (config.control_flow) record_control_flow();
  control_flow_is_asked_for = config.region != nullptr || config.control_flow;
  want_samples(config.sampling);
}

// Audit events come with the GIL held. The one of interest has its subject as first argument.
int audit(const char* event, py::Object* arguments, void*) {
  if (event[0] == 'c') watch_audit_hooks(event);
  if (attached || std::strcmp(event, "import") != 0 || !imports_torch(arguments)) return 0;
  if (__atomic_exchange_n(&attached, true, __ATOMIC_ACQ_REL)) return 0;  // another thread imports it, too
  const int saved = errno;
  attach();
  remove_audit_hook();
  errno = saved;
  return 0;
}

bool begin_with_python() {
  if (!add_audit_hook(audit)) return false;
  note_process_start();
  share_with_forks();
  remember_stderr();
  remember_library();
  return true;
}

// Of several copies that are preloaded, the one that is named first records, as its hooks are the first to be
// called; those of the others pass on. No library but ours defines both functions.
bool is_further_copy() {
  const Loaded first = find_loaded(global_symbol("jpeg16_read_scanlines"));
  return first && first != find_loaded(&__dso_handle) && find_symbol(first, "sigsuspend");
}

[[gnu::constructor]] void enter_process() {
  find_real_functions();
  prepare_first_event();
  prepare_loaded();
  if (is_further_copy()) return;
  if (!begin_with_python()) expect_interpreter([] { begin_with_python(); });
}

[[gnu::destructor]] void leave_process() {
  say_leaving();
  check_collector();
  wait_for_trace();
}

}  // namespace
}  // namespace lotus
