#include "operators/step_lane.hpp"

#include <sys/resource.h>

#include <string_view>

#include "native/torch_library.hpp"
#include "native/torch_ops.hpp"
#include "operators/activations.hpp"
#include "operators/forward_lines.hpp"
#include "operators/lane_costs.hpp"
#include "operators/lane_records.hpp"
#include "operators/live_bytes.hpp"
#include "operators/offload.hpp"
#include "operators/places.hpp"
#include "operators/tensor_form.hpp"
#include "operators/tensor_layout.hpp"
#include "python/python_thread.hpp"
#include "record/hook_names.hpp"
#include "record/recorder.hpp"

namespace lotus {

namespace {

constexpr std::uint32_t kMostLevels = 64;

// Operators under way in the thread that trains. What PyTorch wraps around operators has no tensors of its
// own: the operators are those inside.
struct Nesting {
  std::uint32_t depth;
  std::uint32_t open;      // depth at which the operator that is recorded lies, + 1; 0: none is open
  std::uint32_t nested;    // operators inside of it
  std::uint32_t backward;  // wrappers of the backward pass that are open
  bool is_backward[kMostLevels];
  HookId hook;
  std::uint32_t place;
  std::uint64_t begin;
  std::uint64_t node;                  // number that the next node of autograd's graph had when it began
  std::uint32_t forward[kMostLevels];  // of open wrappers, the places of the operators that made their nodes

  // Of what runs in the innermost wrapper: the node, and what autograd does with the gradients that it made.
  std::uint32_t forward_place() const {
    return backward > 0 && backward <= kMostLevels ? forward[backward - 1] : 0;
  }
};

struct Lane {
  unsigned long observer;  // of operators, in the thread that says so
  unsigned long node_observer;
  bool observes_nodes;
  StepPhase phase;
  std::uint64_t number;
  std::uint64_t cpu;  // ns, of the thread when it began
  bool told;
  Nesting nesting;
  TensorLayout layout;
  LayoutSearch search;
};
constinit Lane lane{};
constinit TensorForms forms{};
constinit ForwardLines forward_lines{};

// Of the calling thread so far.
struct ThreadUse {
  std::uint64_t faults = 0, system_ns = 0;
};
ThreadUse thread_use() {
  rusage use{};
  if (getrusage(RUSAGE_THREAD, &use) != 0) return {};
  return {static_cast<std::uint64_t>(use.ru_minflt + use.ru_majflt),
          static_cast<std::uint64_t>(use.ru_stime.tv_sec) * 1'000'000'000u +
              static_cast<std::uint64_t>(use.ru_stime.tv_usec) * 1000u};
}

std::uint64_t live_bytes() {
  return live_bytes_known ? __atomic_load_n(&live_tensor_bytes, __ATOMIC_RELAXED) : UINT64_MAX;
}

// Where the thread is. Where a batch is made, calls are not recorded.
std::uint32_t place_now(Thread& thread) {
  return sees_every_call() && python_thread.context == nullptr ? place_in_activation(thread)
                                                               : current_place();
}

// ---- tensors

void record_tensor(Thread& thread, std::uint64_t now, std::uint64_t use, const BoxedValue& tensor) {
  const StorageBlock block = lane.layout.storage_of(tensor);
  if (block.address == 0) return;
  if (offload.on != 0 && use % 2 == 0) [[unlikely]]
    note_argument(block.address);
  if (lane.layout.list == TensorLayout::kUnknown) lane.search.note_storage(block);
  const TensorForm form = forms.form_of(tensor.payload, block);
  put_at<Kind::operand>(thread, now, use, block.address, block.bytes, std::uint64_t{form.form}, form.offset);
}

void record_values(Thread& thread, std::uint64_t now, const BoxedValues& values, bool results) {
  for (std::uint64_t i = 0; i < values.count; ++i) {
    const BoxedValue& value = values.begin[i];
    const std::uint64_t use = 2 * i + (results ? 1 : 0);
    if (lane.layout.is_tensor(value)) {
      record_tensor(thread, now, use, value);
    } else if (lane.layout.is_list(value)) {
      const BoxedValues list = lane.layout.list_of(value);
      for (std::uint64_t k = 0; k < list.count; ++k)
        if (lane.layout.is_tensor(list.begin[k])) record_tensor(thread, now, use, list.begin[k]);
    } else if (lane.layout.list == TensorLayout::kUnknown) {
      lane.search.look_at_value(lane.layout, value, lane.nesting.hook * 2 * TensorLayout::kMostValues + use);
    }
  }
}

// ---- operators

bool is_backward_wrapper(std::string_view name) {
  return name.starts_with("autograd::engine::evaluate_function");
}

// An operator has a namespace: what has none is a Python function of autograd, or a compiled region.
bool is_operator(std::string_view name) {
  return name.find("::") != std::string_view::npos && !name.starts_with("profiler::");
}

void open_operator(const void* function, const char* name, Thread& thread, std::uint64_t arrived) {
  Nesting& nesting = lane.nesting;
  nesting.open = nesting.depth;  // it is counted by now
  nesting.nested = 0;
  nesting.hook = hook_of_operator(name);
  if (nesting.hook != 0) define_hook(nesting.hook);
  nesting.place = place_now(thread);
  note_operator(lane_use.operators);
  if (torch.next_node != nullptr) {
    nesting.node = torch.next_node();
    if (forward_lines.is_searched_for()) forward_lines.look(function, nesting.node);
  }
  lane.search.look_at_start(lane.layout, function);
  if (lane.layout.complete()) record_values(thread, arrived, lane.layout.inputs_of(function), false);
  nesting.begin = ticks_now();
  lane_use.operator_ticks += nesting.begin - arrived;
}

void close_operator(const void* function) {
  Nesting& nesting = lane.nesting;
  const std::uint64_t now = ticks_now();
  Thread* const thread = recording_thread();
  nesting.open = 0;
  note_end_of_operator();
  if (thread == nullptr) return;
  lane.search.look_at_end(lane.layout, function);
  if (lane.layout.complete()) record_values(*thread, now, lane.layout.outputs_of(function), true);
  const bool backward = lane.phase == StepPhase::forward && nesting.backward > 0;  // begun by C++ code
  const StepPhase phase = backward ? StepPhase::backward : lane.phase;
  put_at<Kind::torch_op>(*thread, now, std::uint64_t{nesting.hook}, std::uint64_t{nesting.place},
                         now - nesting.begin, static_cast<std::uint64_t>(phase),
                         std::uint64_t{nesting.nested}, std::uint64_t{nesting.forward_place()});
  if (torch.next_node != nullptr) forward_lines.note(nesting.node, torch.next_node(), nesting.place);
  ++lane_use.operators;
  lane_use.nested += nesting.nested;
  lane_use.operator_ticks += ticks_now() - now;
}

void start(const void* function) {
  if (!step_lane.recording || is_moving()) return;
  Nesting& nesting = lane.nesting;
  const std::uint32_t level = nesting.depth++;
  if (level < kMostLevels) nesting.is_backward[level] = false;
  if (nesting.open != 0) {
    ++nesting.nested;
    return;
  }
  const std::uint64_t arrived = ticks_now();
  const char* const name = torch.name(function);
  if (is_backward_wrapper(name)) {
    if (level >= kMostLevels) return;
    nesting.is_backward[level] = true;
    nesting.forward[nesting.backward] = 0;
    ++nesting.backward;
  } else if (is_operator(name) && python_thread.context == nullptr) {
    // Not while a batch is made: there each operation is timed, and would be told as longer.
    if (Thread* thread = recording_thread()) open_operator(function, name, *thread, arrived);
  }
}

ObserverContext operator_starts(const void* function) {
  start(function);
  return {};
}

void operator_ends(const void* function, void*) {
  if (!step_lane.recording || is_moving()) return;
  Nesting& nesting = lane.nesting;
  if (nesting.depth == 0) return;  // it began before the step
  if (nesting.depth == nesting.open) close_operator(function);
  --nesting.depth;
  if (nesting.depth >= kMostLevels || !nesting.is_backward[nesting.depth]) return;
  nesting.is_backward[nesting.depth] = false;
  --nesting.backward;
}

ObserverContext node_starts(const void* function) {
  if (!step_lane.recording || is_moving()) return {};
  Nesting& nesting = lane.nesting;
  if (nesting.backward > 0 && nesting.backward <= kMostLevels)
    nesting.forward[nesting.backward - 1] = forward_lines.place_of(function);
  ++lane_use.nested;  // an observer's call costs as much there
  return {};
}

void node_ends(const void*, void*) {}

void tell_once(const char* reason) {
  if (lane.told) return;
  lane.told = define<Kind::no_steps>(std::string_view(reason));
}

}  // namespace

bool observe_operators() {
  if (step_lane.observing) return true;
  if (!find_torch()) {
    tell_once("PyTorch's functions by which operators are observed were not found");
    return false;
  }
  const OperatorObserver observer{operator_starts, operator_ends, 1.0, {true}, true, true, false};
  lane.observer = torch.add(observer);
  const OperatorObserver nodes{node_starts, node_ends, 1.0, {false, true}, false, false, false};
  lane.observes_nodes = torch.next_node != nullptr;
  if (lane.observes_nodes) lane.node_observer = torch.add(nodes);
  step_lane.observing = true;
  return true;
}

void stop_observing_operators() {
  if (!step_lane.observing) return;
  // Where the program has cleared all observers, PyTorch would warn of one that it does not find.
  if (torch.has_any == nullptr || torch.has_any()) {
    torch.remove(lane.observer);
    if (lane.observes_nodes) torch.remove(lane.node_observer);
  }
  step_lane.observing = false;
}

namespace {

void begin_lane(std::uint64_t number) {
  lane_use = {};
  lane.number = number;
  lane.phase = StepPhase::forward;
  lane.nesting = {};
  forward_lines.begin_step(current_thread(), process.generation);
  lane.cpu = cpu_ns();
}

// The recorder, if this thread recorded and still does.
Thread* end_lane() {
  if (!step_lane.recording) return nullptr;
  step_lane.recording = false;
  end_activations();
  if (step_lane.generation != process.generation) return nullptr;
  if (!lane.layout.complete() && lane.search.has_failed())
    tell_once("where this PyTorch keeps the tensors of an operator was not found out");
  return current_thread();
}

std::uint64_t incomplete() { return std::uint64_t{lane_use.full} + (lane_use.calls_missing ? 2u : 0u); }

}  // namespace

void begin_recorded_step(std::uint64_t number) {
  Thread* const thread = current_thread();
  if (thread == nullptr) return;
  begin_lane(number);
  const ThreadUse use = thread_use();
  const OffloadPlan plan = offload_plan();
  put_at<Kind::step>(*thread, ticks_now(), number, live_bytes(), use.faults, use.system_ns, offload.on,
                     plan.moves, plan.ns, plan.freed);
  step_lane.generation = process.generation;
  step_lane.recording = true;
}

std::uint64_t end_recorded_step() {
  Thread* const thread = end_lane();
  if (thread == nullptr) return 0;
  const ThreadUse use = thread_use();
  put_at<Kind::step_end>(*thread, ticks_now(), lane.number, live_bytes(), use.faults, use.system_ns,
                         incomplete(), offload.moves, offload.bytes, offload.ns, offload.late,
                         cpu_ns() - lane.cpu);
  end_offload_step();
  if (control_flow_is_asked_for) tell_lane_costs(lane_use);
  return recording_cost(lane_use);
}

bool begin_recorded_region(std::uint64_t number, std::uint32_t place, bool inside) {
  Thread* const thread = current_thread();
  if (thread == nullptr) return false;
  begin_lane(number);
  put_at<Kind::region>(*thread, ticks_now(), number, std::uint64_t{place});
  step_lane.generation = process.generation;
  step_lane.recording = inside;
  return true;
}

std::uint64_t end_recorded_region() {
  constexpr std::uint64_t kOnlyTime = 4;
  const std::uint64_t now = ticks_now();
  const std::uint64_t cpu = cpu_ns() - lane.cpu;
  const bool inside = step_lane.recording;
  Thread* const thread = inside ? end_lane() : current_thread();
  if (thread == nullptr || step_lane.generation != process.generation) return 0;
  const std::uint64_t cost = inside ? recording_cost(lane_use) : 0;
  put_at<Kind::region_end>(*thread, now, lane.number, inside ? incomplete() : kOnlyTime, cost, cpu);
  if (inside) tell_lane_costs(lane_use);
  return cost;
}

StepPhase enter_phase(StepPhase phase) {
  const StepPhase before = lane.phase;
  lane.phase = phase;
  return before;
}

void record_allocated(std::uint64_t address, std::uint64_t bytes) {
  Thread* const thread = recording_thread();
  if (thread == nullptr) return;
  const bool inside = lane.nesting.open != 0;
  if (inside) lane.search.note_allocation(address, bytes);
  const std::uint32_t place = inside ? 0 : place_now(*thread);
  put_at<Kind::allocated>(*thread, ticks_now(), address, bytes, std::uint64_t{place});
  ++lane_use.blocks;
}

void record_released(std::uint64_t address, std::uint64_t bytes) {
  Thread* const thread = recording_thread();
  if (thread == nullptr) return;
  put_at<Kind::released>(*thread, ticks_now(), address, bytes);
  ++lane_use.blocks;
}

void forget_step() {
  step_lane.recording = false;
  end_activations();
  end_offload_step();
}

}  // namespace lotus
