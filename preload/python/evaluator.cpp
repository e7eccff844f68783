#include "python/evaluator.hpp"

#include "python/call.hpp"
#include "python/classify.hpp"
#include "python/code_names.hpp"
#include "python/context.hpp"
#include "python/frame_handlers.hpp"
#include "python/free_threading.hpp"
#include "python/known_calls.hpp"
#include "python/objects.hpp"
#include "python/python_calls.hpp"
#include "python/recorded_calls.hpp"
#include "python/shown_frames.hpp"
#include "python/state_lock.hpp"
#include "python/unhooked_call.hpp"
#include "system/hot.hpp"
#include "system/thread_stack.hpp"

namespace lotus {

LOTUS_HOT constinit KnownCalls known_calls{};

namespace {

LOTUS_HOT constinit py::Ssize extra_index = -1;

// Reading the extra value is most of what a plain call costs: it is read from the code object itself, after a
// first store through the API has shown that it is found there.
enum class Extras : std::uint8_t { untried, direct, through_api };
LOTUS_HOT constinit Extras extras = Extras::untried;

void* extra_of(py::Object* code) {
  if (extras == Extras::direct) [[likely]]
    return py::extra_of(code, extra_index);
  void* extra = nullptr;
  py::api.PyUnstable_Code_GetExtra(code, extra_index, &extra);
  return extra;
}

void set_extra(py::Object* code, void* extra) {
  if (py::free_threaded && extras == Extras::direct) {
    py::publish_extra(code, extra_index, extra);
    return;
  }
  if (py::api.PyUnstable_Code_SetExtra(code, extra_index, extra) != 0) {
    py::api.PyErr_Clear();
    return;
  }
  if (extras == Extras::untried)
    extras = py::extra_of(code, extra_index) == extra ? Extras::direct : Extras::through_api;
}

[[gnu::noinline]] py::Object* in_sampled_pipeline(Call& call) {
  call.entry = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::uint32_t name = code_definition(call);
  if (name != 0) known_calls.add(call.code, *call.info, name);
  return run_named(name, [&] { return in_pipeline(call); });
}

[[gnu::noinline]] py::Object* evaluate_named(py::ThreadState* state, py::Frame* frame, std::uint32_t code) {
  return run_named(code, [&] { return evaluate_next(state, frame, 0); });
}

// Not inlined: its locals would make every Python call use more of the C stack.
[[gnu::noinline]] py::Object* evaluate_with_care(py::ThreadState* state, py::Frame* frame, py::Object* code,
                                                 void* extra) {
  ++python_thread.looks;
  // With an exception pending (a finalizer at an odd moment) nothing may be looked up.
  if (process.off || python_thread.unbalanced || py::api.PyErr_Occurred() != nullptr)
    return evaluate_program(state, frame, 0);
  const Context* context = context_around(__builtin_frame_address(0));
  if (python_thread.unbalanced) return evaluate_program(state, frame, 0);
  if (extra == nullptr) {
    extra = classify(code);
    set_extra(code, extra);
    if (control_flow_is_asked_for) keep_frame_visible(frame, code);
  }
  Call call{state, frame, 0, code, info_in(extra)};
  if (call.info != nullptr && call.info->role != nullptr) {
    show_frames(state);
    return call.info->role->handler(call);
  }
  if (context == nullptr) {
    if (call.info != nullptr && call.info->of_dataset) return outside_of_pipeline(call);
    const unsigned looks = call.info != nullptr ? call.info->looks : looks_left(extra);
    return looks != 0 ? of_iterator(call, looks) : call.run();
  }
  if (call.info == nullptr) call.info = info_of(code);
  if (call.info == nullptr) return call.run();
  if (snapshots_on) return in_sampled_pipeline(call);
  known_calls.add(call.code, *call.info, 0);
  return in_pipeline(call);
}

// Where threads run at once. What is known of the code may be read without the lock as long as the code is
// being called.
[[gnu::noinline]] py::Object* evaluate_locked(py::ThreadState* state, py::Frame* frame, py::Object* code,
                                              void* extra) {
  if (process.off) return evaluate_next(state, frame, 0);
  const CodeInfo* const info = info_in(extra);
  const bool plain =
      extra == kPlain || (info != nullptr && info->role == nullptr && !info->of_dataset && info->looks == 0);
  if (plain && python_thread.context == nullptr) return evaluate_next(state, frame, 0);
  const StateLock lock;
  return evaluate_with_care(state, frame, code, extra_of(code));
}

// `kShared`: threads run at once.
template <bool kShared>
py::Object* evaluate(py::ThreadState* state, py::Frame* frame, int throwing);

// … and of a call whose depth is known to be no matter.
template <bool kShared>
inline py::Object* evaluate_here(py::ThreadState* state, py::Frame* frame, int throwing);

py::Evaluator own_evaluator() { return py::free_threaded ? evaluate<true> : evaluate<false>; }

// Where batches are made, operations are timed: there nothing is added to calls.
[[gnu::noinline]] py::Object* evaluate_recorded(py::ThreadState* state, py::Frame* frame, int throwing) {
  const bool deep = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < recorded_floor;
  if (python_thread.context != nullptr)
    return deep ? evaluate_unhooked(state, frame, throwing) : evaluate_here<false>(state, frame, throwing);
  const RecordedCall call = record_call(state, frame, py::code_of(frame), throwing != 0, deep);
  py::Object* const result =
      deep ? evaluate_unhooked(state, frame, throwing) : evaluate_here<false>(state, frame, throwing);
  record_return(call);
  return result;
}

// From 3.11 a Python call takes no C stack, unless there is a frame evaluator; 3.12 also counts such calls
// and allows 1,500. A recursion that goes deep gets CPython's own evaluator back until it returns, so that it
// goes as deep as without us; what is down there is not seen.
[[gnu::noinline]] py::Object* evaluate_deep(py::ThreadState* state, py::Frame* frame, int throwing) {
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (sees_every_call()) return evaluate_recorded(state, frame, throwing);
  if (python_thread.stack_floor == UINTPTR_MAX) {  // this thread's first frame
    const std::uintptr_t most = py::layout->hooked_stack;
    const std::uintptr_t own = most != 0 ? stack_below(address) / 4 : 0;  // the rest is for C code
    const std::uintptr_t allowed = own < most ? own : most;
    python_thread.stack_floor = most != 0 && address > allowed ? address - allowed : 0;
    return own_evaluator()(state, frame, throwing);
  }
  return evaluate_unhooked(state, frame, throwing);
}

template <bool kShared>
inline py::Object* evaluate_known(py::ThreadState* state, py::Frame* frame, int throwing, py::Object* code,
                                  void* extra) {
  if ((extra == kPlain && python_thread.context == nullptr) || throwing != 0) [[likely]]
    return evaluate_next(state, frame, throwing);
  return kShared ? evaluate_locked(state, frame, code, extra) : evaluate_with_care(state, frame, code, extra);
}

// As long as it is not known where extra values are.
template <bool kShared>
[[gnu::noinline]] py::Object* evaluate_through_api(py::ThreadState* state, py::Frame* frame, int throwing) {
  py::Object* code = py::code_of(frame);
  return evaluate_known<kShared>(state, frame, throwing, code, extra_of(code));
}

// Whether what is known of calls below `context` holds; a context that other code left without telling is
// found out elsewhere.
inline bool is_current(const Context& context) {
  return !process.off && reinterpret_cast<const void*>(&context) > __builtin_frame_address(0) &&
         context.serial == python_thread.context_serial;
}

inline bool calls_operations(const Context& context) {
  return context.kind == Context::Kind::runner || context.kind == Context::Kind::sample;
}

// A frame that plays no role here.
inline py::Object* evaluate_other(py::ThreadState* state, py::Frame* frame, KnownCall known) {
  return snapshots_on ? evaluate_named(state, frame, known.name()) : evaluate_next(state, frame, 0);
}

// A call inside the pipeline that is not known at once.
template <bool kShared>
[[gnu::noinline]] py::Object* evaluate_met(py::ThreadState* state, py::Frame* frame, py::Object* code) {
  if (const KnownCall known = known_calls.find(code); known.plays_no_role_in(*python_thread.context))
    return evaluate_other(state, frame, known);
  return kShared ? evaluate_locked(state, frame, code, nullptr)
                 : evaluate_with_care(state, frame, code, extra_of(code));
}

// A frame that may be an operation.
template <bool kShared>
[[gnu::noinline]] py::Object* evaluate_called(py::ThreadState* state, py::Frame* frame, py::Object* code) {
  Context& context = *python_thread.context;
  if constexpr (kShared) {
    const StateLock lock;
    if (const KnownOperation* known = find_known(code, frame, context))
      return run_known(state, frame, *known, context);
  } else if (const KnownOperation* known = find_known(code, frame, context)) {
    return run_known(state, frame, *known, context);
  }
  return evaluate_met<kShared>(state, frame, code);
}

// What we asked Python for made it call a function of the program's.
[[gnu::noinline]] py::Object* evaluate_meanwhile(py::ThreadState* state, py::Frame* frame, int throwing) {
  const WithoutStateLock program_runs;
  return evaluate<true>(state, frame, throwing);
}

template <bool kShared>
[[gnu::always_inline]] inline py::Object* evaluate_here(py::ThreadState* state, py::Frame* frame,
                                                        int throwing) {
  py::Object* code = py::code_of(frame);
  if (const Context* context = python_thread.context;
      context != nullptr && throwing == 0 && is_current(*context)) {
    ++python_thread.calls_inside;
    if (const KnownCall known = known_calls.find_at_once(code); known.plays_no_role_in(*context)) [[likely]]
      return evaluate_other(state, frame, known);
    return calls_operations(*context) ? evaluate_called<kShared>(state, frame, code)
                                      : evaluate_met<kShared>(state, frame, code);
  }
  ++python_thread.calls_outside;
  if (extras != Extras::direct) [[unlikely]]
    return evaluate_through_api<kShared>(state, frame, throwing);
  return evaluate_known<kShared>(state, frame, throwing, code, py::extra_of(code, extra_index));
}

// All that a plain call costs. Whatever it calls takes its place, so that it saves no registers.
template <bool kShared>
py::Object* evaluate(py::ThreadState* state, py::Frame* frame, int throwing) {
  if (kShared && holds_state_lock()) [[unlikely]]
    return evaluate_meanwhile(state, frame, throwing);
  if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < python_thread.stack_floor) [[unlikely]]
    return evaluate_deep(state, frame, throwing);
  return evaluate_here<kShared>(state, frame, throwing);
}

// Whether extra values are where they are thought to be.
bool reads_extras() {
  constexpr int kWholeFile = 257;  // Py_file_input
  const Owned code(py::api.Py_CompileString("0", "<lotus>", kWholeFile));
  if (code) set_extra(code.get(), kPlain);
  py::api.PyErr_Clear();
  return extras == Extras::direct;
}

py::Evaluator evaluator_of(py::InterpreterState* interpreter) {
  return py::api._PyInterpreterState_GetEvalFrameFunc(interpreter);
}

}  // namespace

void use_evaluator(bool ours) {
  py::api._PyInterpreterState_SetEvalFrameFunc(py::api.PyInterpreterState_Get(),
                                               ours ? own_evaluator() : evaluate_next);
}

py::Object* evaluate_unhooked(py::ThreadState* state, py::Frame* frame, int throwing) {
  py::InterpreterState* const interpreter = py::api.PyInterpreterState_Get();
  if (evaluator_of(interpreter) != own_evaluator()) return evaluate_next(state, frame, throwing);
  use_evaluator(false);
  UnhookedCall call{&call, state, frame, interpreter};
  const std::uint32_t generation = process.generation;
  __atomic_signal_fence(__ATOMIC_RELEASE);
  python_thread.unhooked = &call;
  py::Object* result = evaluate_next(state, frame, throwing);
  if (generation != process.generation) return result;
  python_thread.unhooked = nullptr;
  if (call.met_others) ++python_thread.looks;
  if (evaluator_of(interpreter) == evaluate_next) use_evaluator(true);
  return result;
}

void take_evaluator_back() {
  const UnhookedCall* const call = python_thread.unhooked;
  if (call == nullptr) return;
  python_thread.unhooked = nullptr;
  // By the interpreter that is known: the thread that forked may be without the GIL.
  if (evaluator_of(call->interpreter) == evaluate_next)
    py::api._PyInterpreterState_SetEvalFrameFunc(call->interpreter, own_evaluator());
}

CodeInfo* info_of(py::Object* code) {
  void* known = extra_of(code);
  void* extra = known == nullptr ? classify(code) : known;
  if (info_in(extra) == nullptr) {
    const unsigned looks = looks_left(extra);
    CodeInfo* const info = describe_code(code);
    if (info == nullptr) return nullptr;
    info->looks = static_cast<std::uint8_t>(looks);
    extra = info;
  }
  // Setting a value frees the one before it: never the same one twice.
  if (extra != known) set_extra(code, extra);
  return static_cast<CodeInfo*>(extra);
}

void look_at_calls(py::Object* code, unsigned looks) {
  CodeInfo* const info = info_in(extra_of(code));
  if (info != nullptr)
    info->looks = static_cast<std::uint8_t>(looks);
  else
    set_extra(code, watched(looks));
}

bool has_role(py::Object* code) {
  const CodeInfo* const info = info_in(extra_of(code));
  return info != nullptr && info->role != nullptr;
}

const char* install_evaluator(std::span<const Role> roles) {
  if (py::free_threaded && !py::use_shared_objects())
    return "this interpreter hides functions that tracing needs";
  if (!intern_names()) return "out of memory";
  py::InterpreterState* interpreter = py::api.PyInterpreterState_Get();
  evaluate_next = py::api._PyInterpreterState_GetEvalFrameFunc(interpreter);
  if (evaluate_next != py::api._PyEval_EvalFrameDefault)
    return "another tool has replaced Python's frame evaluator already";
  extra_index = py::api.PyUnstable_Eval_RequestCodeExtraIndex(release_code_info);
  if (extra_index < 0) return "no free slot for data on code objects";
  if (py::free_threaded && !reads_extras()) return "this interpreter's code objects are laid out differently";
  use_roles(roles);
  use_evaluator(true);
  return nullptr;
}

}  // namespace lotus
