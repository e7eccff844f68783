#include "pipeline/pipeline.hpp"

#include <cstring>

#include "pipeline/batch_message.hpp"
#include "pipeline/callable.hpp"
#include "pipeline/contexts.hpp"
#include "pipeline/holders.hpp"
#include "pipeline/items.hpp"
#include "pipeline/known_operations.hpp"
#include "pipeline/libraries.hpp"
#include "pipeline/operation_names.hpp"
#include "pipeline/other_loaders.hpp"
#include "pipeline/parts.hpp"
#include "pipeline/pauses.hpp"
#include "pipeline/plain_operations.hpp"
#include "pipeline/runners.hpp"
#include "python/call_costs.hpp"
#include "python/code_names.hpp"
#include "python/frame_handlers.hpp"
#include "python/objects.hpp"
#include "python/python_calls.hpp"
#include "python/sample_file.hpp"
#include "record/recorder.hpp"
#include "record/setting.hpp"
#include "sampling/sampler.hpp"
#include "system/hot.hpp"

namespace lotus {

LOTUS_HOT constinit KnownOperations known_operations{};

namespace {

constexpr int kMaxExpanded = 3;   // helper methods of the dataset that are opened up, one in another
constexpr int kMaxUnmatched = 8;  // helper frames between a runner and the operations that it calls

py::Object* run_opaque(const Call& call) {
  OpaqueContext context;
  const ContextScope scope(context);
  return call.run();
}

// What a runner calls has a role, as may have what is called where a library calls what it was given.
bool may_be_plain(const Context& context) {
  return context.kind == Context::Kind::op ||
         (context.kind == Context::Kind::first_frame &&
          static_cast<const OperationContext&>(context).holder == nullptr);
}

// Evaluates the frame as operation `definition`; what happens below is described by `context`.
py::Object* run_operation(const Call& call, std::uint32_t definition, Context& context) {
  // What a runner takes is the sum of its operations. The CPU clock is read before the operation begins, as
  // it is after its end: there the kernel likes to run something else, which is not the operation's.
  const bool measured = context.kind != Context::Kind::runner && measure_this(definition);
  const bool counted =
      counters_on && context.kind != Context::Kind::runner && (measured || is_first_call(definition));
  if (counted) begin_counting();
  const std::uint64_t cpu_start = measured ? cpu_ns() : 0;
  const Span span = enter<Kind::op>(definition);
  if (counted) count_in(span);
  if (call.entry != 0) mark_entry(span, call.entry);
  if (measured) measure_cpu(span, cpu_start);
  const std::uint64_t begin = ticks_now();
  py::Object* result = nullptr;
  {
    const ContextScope scope(context);
    result = may_be_plain(context) ? run_perhaps_plain(call, definition) : call.run();
  }
  tell_calls_before_end();
  const std::uint64_t end = ticks_now();
  if (span.depth != Span::kNone) close_at(span, how_left(result), end);
  if (span.generation == process.generation) {
    learn_duration(definition, end - begin);
    after_operation(end);
  }
  return result;
}

// Takes down which operation it is that runs this frame where `callable` is called.
void add_known(const Call& call, py::Object* callable, OpRole role, std::uint32_t definition, bool itself) {
  if (!is_defined(definition)) return;
  const bool closure = call.info->closes_over && !itself && role == OpRole::transform;
  if (closure && py::function_of(call.frame) == nullptr) return;
  KnownOperation known;
  known.code = call.code;
  known.callable = callable;
  known.definition = definition;
  known.name = snapshots_on ? code_definition(call) : 0;
  if (snapshots_on && known.name == 0) return;  // there was no room for it: next time, maybe
  known.role = role;
  known.arguments = call.info->arguments;
  known.itself = itself;
  known.closure = closure;
  known.first = call.info->first;
  known.first_in_tuple = call.info->first_in_tuple;
  known_operations.add(known);
}

// An operation that is no runner.
py::Object* run_plain(const Call& call, py::Object* first, std::uint32_t definition) {
  OperationContext context(first);
  return run_operation(call, definition, context);
}

// An operation may itself be a runner: RandomApply, Sequential, a Compose in a Compose.
py::Object* run_callable(Call& call, py::Object* callable, py::Object* first, OpRole role) {
  py::Object* const items = callables_of(call, first);
  const std::uint32_t definition = definition_of(call, callable, role);
  // Whether what `callable` runs follows from the code that is called. A method may turn up with another
  // `self`, a partial with another function.
  const bool function = py::is_exactly(callable, py::api.PyFunction_Type);
  const bool itself =
      callable == first && first_argument(call.frame, call.info->first, call.info->first_in_tuple) == first;
  if ((function || itself) && role == OpRole::transform && call.info->runner == Verdict::no)
    add_known(call, callable, role, definition, itself);
  if (items == nullptr) return run_plain(call, first, definition);
  RunnerContext context(first, items);
  return run_operation(call, definition, context);
}

// Runs the frame as the context's item that it is. False: it is none.
bool run_item(Call& call, ItemsContext& context, py::Object* first, py::Object*& result) {
  py::Object* const item = match_item(context, call, first);
  if (item == nullptr) return false;
  result = run_callable(call, item, first, OpRole::transform);
  return true;
}

// The object whose class names the frame: `self` where this is the class's own __call__.
py::Object* named_by(const Call& call, py::Object* first) {
  return first != nullptr && runs(first, call, first) ? first : nullptr;
}

// `definition`: the runner's, if it is known; else 0.
py::Object* run_runner(Call& call, py::Object* first, py::Object* items, std::uint32_t definition) {
  RunnerContext context(first, items);
  if (definition == 0) {
    definition = definition_of(call, named_by(call, first), OpRole::runner);
    add_known(call, first, OpRole::runner, definition, true);
  }
  return run_operation(call, definition, context);
}

bool is_dataset(py::Object* object) {
  const Owned order(
      py::api.PyObject_GetAttr(reinterpret_cast<py::Object*>(py::type_of(object)), names.__mro__));
  const py::Ssize size = order ? py::api.PyTuple_Size(order.get()) : 0;
  for (py::Ssize i = 0; i < size; ++i) {
    const auto* type = reinterpret_cast<py::Type*>(py::api.PyTuple_GetItem(order.get(), i));
    if (std::strcmp(py::type_name(type), "Dataset") == 0) return true;
  }
  return false;
}

bool is_loader_of(py::Object* dataset, const Call& call, py::Object* first) {
  if (dataset == nullptr) return false;
  const Owned loader(plain_attribute(dataset, names.loader));
  return loader && runs(loader.get(), call, first);
}

py::Object* run_loader(const Call& call, int arguments, py::Object* first, std::uint32_t definition) {
  for (int i = 0; i < 2 && i < arguments; ++i) note_path(local_variable(call, i));
  return run_plain(call, first, definition);
}

// The definition of a known runner; 0: none is known.
std::uint32_t known_runner(const Call& call, py::Object* first) {
  const KnownOperation* known =
      first != nullptr ? known_operations.find(call.code, first, OpRole::runner) : nullptr;
  return known != nullptr ? known->definition : 0;
}

// Whether __getitem__ is asked for several samples at once: Hugging Face's __getitems__ hands its own all
// keys, __getitems__ of others each of them. `asked`: the keys, nullptr if none are known.
bool is_for_several(py::Object* key, py::Object* asked) {
  if (key == nullptr || py::is_a(key, py::kLong) || py::is_a(key, py::kUnicode) || py::is_a(key, py::kBytes))
    return false;
  if (key == asked) return true;
  const bool known = asked != nullptr && (py::is_a(asked, py::kList) || py::is_a(asked, py::kTuple));
  if (known && visit_items(asked, [key](py::Object* one) { return one == key; })) return false;
  if (py::is_a(key, py::kTuple)) return false;  // of one sample, by several numbers
  return std::strcmp(py::type_name(py::type_of(key)), "slice") == 0 ||
         py::api._PyType_Lookup(py::type_of(key), names.__len__) != nullptr;
}

// What a dataset asks a dataset for, itself or one that it wraps: Subset, ConcatDataset.
py::Object* run_part(Call& call, py::Object* dataset, const SampleContext& around) {
  py::Object* const key = call.info->arguments > 1 ? local_variable(call, 1) : nullptr;
  const bool several = (call.info->traits & kGetItems) != 0 || is_for_several(key, around.asked);
  if (around.batched && !several) return run_sample(call, integer_of(key, -1));
  SampleContext inner(dataset, callables_of(call, dataset));
  inner.batched = around.batched;
  if (key != nullptr) py::api.Py_IncRef(key);
  const Owned asked(key);
  inner.asked = key;
  const ContextScope scope(inner);
  return call.run();
}

// A frame directly below a sample, with no runner in between.
py::Object* run_first_frame(Call& call, py::Object* first, SampleContext& sample) {
  py::Object* const dataset = sample.self;
  const std::uint32_t runner = known_runner(call, first);
  if (runner == 0 && is_loader_of(dataset, call, first)) {
    const std::uint32_t definition = definition_of(call, named_by(call, first), OpRole::loader);
    add_known(call, dataset, OpRole::loader, definition, false);
    return run_loader(call, call.info->arguments, first, definition);
  }
  py::Object* items = callables_of(call, first);
  if (items == nullptr) items = callables_of_forward(call, first);
  if (items != nullptr) return run_runner(call, first, items, runner);
  const bool holds = holds_callables(call, first);
  const std::uint32_t definition = definition_of(call, named_by(call, first), OpRole::frame);
  if (first != nullptr && first == dataset && sample.expanded < kMaxExpanded) {
    SampleContext inner(dataset, nullptr);  // a helper method of the dataset: its callees are operations, too
    inner.expanded = static_cast<std::uint8_t>(sample.expanded + 1);
    inner.batched = sample.batched;
    inner.asked = sample.asked;
    return run_operation(call, definition, inner);
  }
  const Holder holder{call.info, call.code, first};
  OperationContext context(first, Context::Kind::first_frame);
  context.owner = owner_of(*call.info, call.code);
  if (holds) {
    context.holder = &holder;
    context.held[0] = first;
  }
  return run_operation(call, definition, context);
}

// Below a context of each kind. Not inlined into in_pipeline(), which every Python call of a pipeline goes
// through: it would save registers for all of them.

[[gnu::noinline]] py::Object* below_sample(Call& call, SampleContext& context) {
  py::Object* first = first_argument(call);
  if ((call.info->traits & (kGetItem | kGetItems)) != 0 && first != nullptr && is_dataset(first)) {
    keep_datasets_visible(first);
    return run_part(call, first, context);
  }
  if (py::Object* result = nullptr; context.items != nullptr && run_item(call, context, first, result))
    return result;
  if ((call.info->traits & kTransparent) != 0) return call.run();
  if ((call.info->traits & kIgnored) != 0) return run_opaque(call);
  return run_first_frame(call, first, context);
}

[[gnu::noinline]] py::Object* below_runner(Call& call, RunnerContext& context) {
  py::Object* first = first_argument(call);
  if (py::Object* result = nullptr; run_item(call, context, first, result)) return result;
  if ((call.info->traits & kTransparent) != 0) return call.run();
  if (context.depth >= kMaxUnmatched || (call.info->traits & kIgnored) != 0) return run_opaque(call);
  ++context.depth;
  py::Object* result = call.run();
  --context.depth;
  return result;
}

// Whether the frame is the call of a module of PyTorch's: what a module does in a way of its own with those
// that it holds.
bool is_module_call(const Call& call, py::Object* first) {
  if (first == nullptr || py::is_a(first, py::kType) || !runs(first, call, first)) return false;
  const Owned modules(plain_attribute(first, names._modules));
  return modules && py::is_a(modules.get(), py::kDict);
}

// The library's own code hands on, and what other packages do for it is its own part; what it was given to
// call is an operation.
py::Object* below_stage(Call& call, py::Object* first, const StageContext& stage) {
  if (!may_be_stage() || !(stage.parent_has_loader || makes_for(stage.owner))) return call.run();
  const std::uint32_t owner = owner_of(*call.info, call.code);
  const bool collates = owner == kPyTorch && is_collate(*call.info, call.code);
  if (owner != kProgram && !collates) {
    // A library's threads may call it all the time: it is not looked at again, see KnownCalls::places_of().
    if (call.info->holder == Verdict::open) call.info->holder = Verdict::no;
    if (call.info->border == Verdict::open) call.info->border = Verdict::no;
    return call.run();
  }
  if (stage.body != nullptr && call.code == stage.body) return call.run();
  if (!collates && is_part(call, first, stage)) return run_part_unrecorded(call, first, stage);
  const std::uint32_t definition =
      definition_of(call, named_by(call, first), collates ? OpRole::collate : OpRole::frame);
  py::Object* result = nullptr;
  if (collates || stage.owner != kProgram || stage.opened == kMostOpened) {
    result = run_plain(call, first, definition);
  } else {
    StageContext parts(stage, first, static_cast<std::uint8_t>(stage.opened + 1));
    result = run_operation(call, definition, parts);
  }
  Thread* const thread = this_thread.recorder;
  if (thread != nullptr && thread->depth == 0 && this_thread.generation == process.generation)
    end_batch(*thread);
  return result;
}

// Inside an operation that is but the first frame of a sample: what a library was given to call is one, too.
py::Object* below_first_frame(Call& call, py::Object* first, const OperationContext& context) {
  py::Object* given = context.holder != nullptr ? match_held(*context.holder, call, first) : nullptr;
  if (given != nullptr) return run_callable(call, given, first, OpRole::transform);
  if (is_module_call(call, first))
    return first == context.self ? call.run() : run_callable(call, first, first, OpRole::transform);
  if (context.stage) return below_stage(call, first, static_cast<const StageContext&>(context));
  if (is_at_border(call, context.owner)) {
    const std::uint32_t definition = definition_of(call, named_by(call, first), OpRole::frame);
    if (call.info->owner != context.owner) return run_plain(call, first, definition);
    OperationContext inner(context.self, Context::Kind::first_frame);
    inner.owner = context.owner;
    return run_operation(call, definition, inner);
  }
  if (!holds_callables(call, first)) return call.run();
  py::api.Py_IncRef(first);
  const Owned held(first);
  const Holder holder{call.info, call.code, first};
  OperationContext inner(context.self, Context::Kind::first_frame);
  inner.holder = &holder;
  inner.owner = context.owner;
  const ContextScope scope(inner);
  return call.run();
}

// Inside an operation only a runner is of interest.
[[gnu::noinline]] py::Object* below_operation(Call& call, const OperationContext& context) {
  const bool guessed = context.kind == Context::Kind::first_frame;
  const bool none = call.info->runner == Verdict::no && !guessed;
  if (none || (call.info->traits & (kTransparent | kIgnored)) != 0) return call.run();
  py::Object* first = first_argument(call);
  py::Object* items = callables_of(call, first);
  if (items == nullptr) return guessed ? below_first_frame(call, first, context) : call.run();
  if (first != context.self) return run_runner(call, first, items, known_runner(call, first));
  RunnerContext runner(first, items);  // the operation's own loop, in `forward` or a helper method
  const ContextScope scope(runner);
  return call.run();
}

bool is_get_item_of(py::Object* dataset, const Call& call, py::Object* first) {
  if (first == nullptr) return false;
  if ((call.info->traits & kGetItem) != 0) return true;
  if (first != dataset) return false;
  py::Object* method = py::api._PyType_Lookup(py::type_of(dataset), names.__getitem__);
  return method != nullptr && py::is_exactly(method, py::api.PyFunction_Type) &&
         py::api.PyFunction_GetCode(method) == call.code;
}

py::Object* run_samples(Call& call) {
  py::Object* indices = call.info->arguments > 1 ? local_variable(call, 1) : nullptr;
  const Span span = enter<Kind::samples>(length_of_list(indices));
  // One dataset call makes the whole batch; items fetched one by one inside it are samples all the same.
  py::Object* const dataset = first_argument(call);
  SampleContext context(dataset, callables_of(call, dataset));
  context.batched = true;
  if (indices != nullptr) py::api.Py_IncRef(indices);
  const Owned asked(indices);
  context.asked = indices;
  py::Object* result = nullptr;
  {
    const ContextScope scope(context);
    result = call.run();
  }
  leave(span, how_left(result));
  return result;
}

FetchContext* current_fetch() {
  Context* const context = python_thread.unbalanced ? nullptr : python_thread.context;
  const bool is_fetch = context != nullptr && context->kind == Context::Kind::fetch;
  return is_fetch ? static_cast<FetchContext*>(context) : nullptr;
}

// What a frame that may make a whole batch is asked for.
struct Asked {
  bool one = false;         // for one sample
  std::uint64_t count = 0;  // for so many; 0: not known
};

Asked what_is_asked() {
  const FetchContext* const batch = current_fetch();
  if (batch == nullptr || !batch->whole || batch->iterable) return {};
  return {!is_for_several(batch->key, nullptr), length_of_list(batch->key)};
}

void tell_size(FetchContext& batch, const Asked& asked, py::Object* result) {
  batch.sized = true;
  if (!asked.one) point<Kind::whole_batch>(asked.count != 0 ? asked.count : batch_length(result));
}

[[gnu::noinline]] py::Object* below_fetch(Call& call, FetchContext& context) {
  py::Object* first = first_argument(call);
  if ((call.info->traits & kGetItems) != 0) return run_samples(call);
  if (!context.iterable && is_get_item_of(context.dataset, call, first)) {
    py::Object* index = call.info->arguments > 1 ? local_variable(call, 1) : nullptr;
    return run_sample(call, integer_of(index, -1));
  }
  if (context.iterable && (call.info->traits & (kGenerator | kNext)) != 0) return run_sample(call, -1);
  if (context.collate != nullptr && runs(context.collate, call, first)) {
    context.sampled = false;
    return run_callable(call, context.collate, first, OpRole::collate);
  }
  if ((call.info->traits & kTransparent) != 0) return call.run();
  return run_opaque(call);
}

}  // namespace

void keep_datasets_visible(py::Object* dataset) {
  // Subset and its kind keep what they wrap in `dataset`, ConcatDataset in `datasets`.
  for (int depth = 0; dataset != nullptr && depth < 8; ++depth) {
    py::keep_visible(py::api._PyType_Lookup(py::type_of(dataset), names.__getitem__));
    const Owned parts(plain_attribute(dataset, names.datasets));
    if (parts && (py::is_a(parts.get(), py::kList) || py::is_a(parts.get(), py::kTuple)))
      visit_items(parts.get(), [](py::Object* part) {
        py::keep_visible(py::api._PyType_Lookup(py::type_of(part), names.__getitem__));
        return false;
      });
    const Owned inner(plain_attribute(dataset, names.dataset));
    dataset = inner.get();
  }
}

py::Object* run_sample(Call& call, std::int64_t index) {
  py::Object* const dataset = first_argument(call);
  const Asked asked = what_is_asked();
  SampleContext context(dataset, callables_of(call, dataset));
  const Span span = enter<Kind::sample>(index);
  py::Object* result = nullptr;
  {
    const ContextScope scope(context);
    const Setting setting(python_thread.in_sample, true);
    const Setting path(python_thread.path_known, false);
    result = call.run();
  }
  Kind kind = how_left(result);
  // A generator that ran off its end returns None: nothing was made.
  if (result != nullptr && (call.info->traits & kGenerator) != 0 && py::is_none(result))
    kind = Kind::leave_empty;
  tell_calls_before_end();
  FetchContext* const batch = span.generation == process.generation ? current_fetch() : nullptr;
  if (batch != nullptr && batch->whole && kind == Kind::leave) tell_size(*batch, asked, result);
  leave(span, kind);
  if (batch != nullptr) {
    batch->sampled = true;
    batch->samples_end = ticks_now();
  }
  return result;
}

const KnownOperation* find_known(const py::Object* code, const py::Frame* frame, const Context& around) {
  const auto& context = static_cast<const ItemsContext&>(around);
  if (context.items == nullptr) {
    const bool may_look = context.self != nullptr && py::api.PyErr_Occurred() == nullptr;
    return may_look ? known_operations.find(code, context.self, OpRole::loader) : nullptr;
  }
  const py::Object* const next = expected_item(context);
  const KnownOperation* known =
      next != nullptr ? known_operations.find(code, next, OpRole::transform) : nullptr;
  if (known == nullptr) return nullptr;
  const bool is_it = (!known->itself || first_argument(frame, known->first, known->first_in_tuple) == next) &&
                     (!known->closure || py::function_of(frame) == next);
  return is_it ? known : nullptr;
}

[[gnu::noinline]] py::Object* run_known(py::ThreadState* state, py::Frame* frame, const KnownOperation& known,
                                        Context& context) {
  const Call call{state,   frame,   0,
                  nullptr, nullptr, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))};
  return run_named(known.name, [&] {
    py::Object* const first = first_argument(call, known.first, known.first_in_tuple);
    if (known.role == OpRole::loader) return run_loader(call, known.arguments, first, known.definition);
    ++static_cast<ItemsContext&>(context).next_item;
    return run_plain(call, first, known.definition);
  });
}

void forget_known_operations() { known_operations.clear(); }

py::Object* in_pipeline(Call& call) {
  Context& context = *python_thread.context;
  switch (context.kind) {
    case Context::Kind::fetch:
      return below_fetch(call, static_cast<FetchContext&>(context));
    case Context::Kind::sample:
      return below_sample(call, static_cast<SampleContext&>(context));
    case Context::Kind::runner:
      return below_runner(call, static_cast<RunnerContext&>(context));
    case Context::Kind::op:
    case Context::Kind::first_frame:
      return below_operation(call, static_cast<OperationContext&>(context));
    case Context::Kind::opaque:
      break;
  }
  return call.run();
}

}  // namespace lotus
