#include "pipeline/other_loaders.hpp"

#include <cerrno>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "pipeline/batch_message.hpp"
#include "pipeline/contexts.hpp"
#include "pipeline/iterators.hpp"
#include "pipeline/libraries.hpp"
#include "pipeline/own_loaders.hpp"
#include "pipeline/pauses.hpp"
#include "pipeline/takers.hpp"
#include "python/call_costs.hpp"
#include "python/classify.hpp"
#include "python/code_names.hpp"
#include "python/evaluator.hpp"
#include "python/frame_handlers.hpp"
#include "python/free_threading.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"
#include "record/setting.hpp"
#include "system/clock.hpp"
#include "system/thread_id.hpp"

namespace lotus {
namespace {

constexpr std::size_t kMostLoaders = 8;

// Known by the function of its iterator that gives batches.
struct OtherLoader {
  const py::Object* code = nullptr;
  const py::Object* iterator = nullptr;  // only compared; of a generator that is not known
  std::uint64_t id = 0, reset = 0;       // of the iterator
  std::uint64_t batch = 0;               // the next one
  bool over = false;                     // it has no more
  bool fresh = false;                    // another generator was made since
  const void* frames[4] = {};            // of generators that have given batches and have more; only compared
  std::size_t newest = 0;
  bool is_package = false;
  const void* last = nullptr;  // that gave the last batch, see identity_of(); nullptr: it has no more
  std::uint64_t steps = 0;     // of the optimizer, when it gave that
};
constinit OtherLoader loaders[kMostLoaders] = {};

// What gave one batch so far.
struct Candidate {
  const py::Object* code = nullptr;
  GivenBatch batch{};
  std::uint64_t steps = 0;  // that the optimizer had taken
  bool handed_on = false;   // by another iterator
};
constinit Candidate candidate{};

// What the last call inside of the outermost one gave.
struct Passed {
  const py::Object* result = nullptr;  // only compared
  std::uint32_t owner = 0;             // whose code it is, …
  Candidate by{};                      // … and which
};
constinit Passed passed{};
constinit bool getting = false;     // the main thread is in the outermost call of an iterator
constinit bool iterating = false;   // … in an __iter__
constinit bool of_program = false;  // a loader is known
// A package's loader is known, and the optimizer has stepped between batches of one iterator of its.
constinit bool trains_with_package = false;
// Batches that known loaders of packages gave, and whether the iterator that gave the last has more.
constinit std::uint64_t batches_got = 0;
constinit bool has_more = false;

// What a child process knows of the one that started it.
struct Parent {
  std::uint32_t loaders = 0;                  // OtherLoaders
  std::uint64_t next_look = 0, interval = 0;  // ticks
};
constinit Parent parent{};

OtherLoader* find_loader_of(const py::Object* code) {
  for (OtherLoader& loader : loaders)
    if (loader.code == code) return &loader;
  return nullptr;
}

// Ranks are started by what is no helper; the processes of a loader are forked, or helpers of
// multiprocessing.
bool may_train() { return process.generation == 0 && !process.worker && is_main_thread(); }

bool is_generator_code(py::Object* code) {
  constexpr std::int64_t kGenerator = 0x20;  // CO_GENERATOR
  const Owned flags(py::api.PyObject_GetAttr(code, names.co_flags));
  return flags && (integer_of(flags.get(), 0) & kGenerator) != 0;
}

// From Python 3.11 the frame of a generator is evaluated once to make it.
bool is_made_generator(const py::Object* result, const py::Object* iterator) {
  return result != nullptr && iterator == nullptr &&
         std::string_view(py::type_name(py::type_of(result))) == "generator";
}

bool is_generator(const py::Object* self) { return self == nullptr; }

// What a function of an iterator is: by its name, and by the object that it is called on, nullptr: a
// generator has none.
struct Function {
  explicit Function(const Call& call) {
    const Owned name(py::api.PyObject_GetAttr(call.code, names.co_name));
    const std::string_view text = name ? text_of(name.get()) : std::string_view{};
    makes = text == "__iter__" && !is_generator_code(call.code);
    const int place = text == "__next__" || text == "next" ? local_index(call.code, "self") : -1;
    if (place >= 0) iterator = local_variable(call, place);
  }
  bool makes = false;  // __iter__ that gives another object
  const py::Object* iterator = nullptr;
};

// Whose a loader is, for a reader.
std::string_view name_of_owner(std::string_view file, char* buffer, std::size_t size) {
  switch (owner_of_file(file)) {
    case kProgram:
    case kMadeAtRunTime:
      return "the program";
    case kStandardLibrary:
      return "Python";
    default:
      return name_of_library(file, buffer, size);
  }
}

// `live`: the iterator that is being called; it is of the type of `iterator`, which may be gone.
void begin_iterator(OtherLoader& loader, py::Object* code, const py::Object* iterator,
                    const py::Object* live) {
  const CodeText text(code);
  char library[128];
  const std::string_view type = is_generator(live) ? text.name().substr(0, text.name().find(".<locals>"))
                                                   : std::string_view(py::type_name(py::type_of(live)));
  const Iterator* entry = add_other_iterator(is_generator(live) ? code : iterator, code, type,
                                             name_of_owner(text.file(), library, sizeof library));
  loader.code = code;
  loader.iterator = iterator;
  loader.id = entry->id;
  loader.reset = entry->reset;
  loader.batch = 0;
  loader.over = loader.fresh = false;
}

// The spans of a call that gives training a batch: as of an iterator of PyTorch's with workers.
class Getting {
 public:
  Getting(Thread& thread, const OtherLoader& loader, std::uint64_t begin, bool measured)
      : measured_(measured), next_(enter_at<Kind::next>(thread, begin, loader.id, loader.reset)) {
    if (measured_) point<Kind::process_cpu>(process_cpu_ns());
    wait_ = enter_at<Kind::wait>(thread, begin, loader.id, loader.reset);
    get_ = enter_at<Kind::get>(thread, begin, loader.id, loader.reset);
  }
  bool is_stale() const { return next_.generation != process.generation; }

  void came(Thread& thread, OtherLoader& loader, std::uint64_t end, std::uint64_t samples) {
    detail::make_room(thread);
    detail::append<Kind::received>(thread, end, loader.id, loader.reset, loader.batch, loader.batch,
                                   std::uint64_t{0});
    close_at(get_, Kind::leave, end);
    const Span consume = enter_at<Kind::consume>(thread, end, loader.id, loader.reset, loader.batch);
    detail::append<Kind::whole_batch>(thread, end, samples);
    close_at(consume, Kind::leave, end);
    ++loader.batch;
    close(Kind::leave, end);
  }
  void close_all(Kind left, std::uint64_t end) {
    close_at(get_, left, end);
    close(left, end);
  }

 private:
  void close(Kind left, std::uint64_t end) {
    close_at(wait_, left, end);
    if (measured_) point<Kind::process_cpu>(process_cpu_ns());
    close_at(next_, left, end);
  }

  bool measured_;
  Span next_, wait_, get_;
};

// A generator's end is a return of None.
Kind how_iterator_left(py::Object* result, const py::Object* iterator) {
  if (result != nullptr && is_generator(iterator) && py::is_none(result)) return Kind::leave_empty;
  return how_left(result);
}

std::uint64_t length_of(py::Object* batch) {
  // The only one of several outputs, as DALI's.
  py::Object* const only =
      py::is_a(batch, py::kList) && py::list_of(batch)->size == 1 ? py::item_of(batch, 0) : nullptr;
  return batch_length(only != nullptr ? only : batch);
}

// An iterator that takes its first batch while it is being made hands it out later.
bool is_made_now() {
  const Owned code(calling_code());
  const Owned name(code ? py::api.PyObject_GetAttr(code.get(), names.co_name) : nullptr);
  return name && text_of(name.get()) == "__init__" && owner_of(code.get()) >= kFirstPackage;
}

// Of several generators of one function, as of training's and validation's batches, one may go on when
// another has ended.
bool goes_on(const OtherLoader& loader, const void* frame) {
  for (const void* known : loader.frames)
    if (known == frame) return true;
  return false;
}

void note_frame(OtherLoader& loader, const void* frame, bool goes) {
  for (const void*& known : loader.frames)
    if (known == frame) known = nullptr;
  if (goes) loader.frames[loader.newest++ % std::size(loader.frames)] = frame;
}

// Tells a generator, by its frame, and other iterators from others.
const void* identity_of(const Call& call, const py::Object* iterator) {
  return iterator != nullptr ? static_cast<const void*>(iterator) : call.frame;
}

// Whether a package's loader is what training takes its data from is told by the steps between its batches.
void note_steps_before(const OtherLoader& loader, const void* identity) {
  if (loader.is_package && loader.last == identity && optimizer_steps_taken() != loader.steps)
    trains_with_package = true;
}

void note_steps_after(OtherLoader& loader, const void* identity) {
  if (!loader.is_package) return;
  loader.last = identity;
  loader.steps = optimizer_steps_taken();
  ++batches_got;
  has_more = identity != nullptr;
}

// The object whose methods the loader's function is one of. Borrowed.
const py::Object* loader_object(const Call& call, const py::Object* iterator) {
  if (iterator != nullptr) return iterator;
  const int place = local_index(call.code, "self");
  return place >= 0 ? local_variable(call, place) : nullptr;
}

py::Object* get_batch(Call& call, OtherLoader& loader, const py::Object* iterator) {
  const void* const frame = call.frame;
  const void* const identity = identity_of(call, iterator);
  note_steps_before(loader, identity);
  if (loader.over && is_generator(iterator) && py::layout->minor >= 11 && !goes_on(loader, frame)) {
    loader.over = false;
    loader.fresh = true;
    return call.run();
  }
  if (loader.over || loader.fresh || loader.iterator != iterator)
    begin_iterator(loader, call.code, iterator, iterator);
  Thread* const thread = current_thread();
  if (thread == nullptr) return call.run();
  Getting spans(*thread, loader, ticks_now(), true);
  py::Object* result = nullptr;
  {
    StageContext stage(owner_of(call.code));
    stage.loader = loader_object(call, iterator);
    const ContextScope scope(stage);
    const Setting now(getting, true);
    result = call.run();
  }
  if (spans.is_stale()) return result;
  const bool made = is_made_generator(result, iterator);  // the one before was left
  const Kind left = made ? Kind::leave_empty : how_iterator_left(result, iterator);
  if (left == Kind::leave)
    spans.came(*thread, loader, ticks_now(), length_of(result));
  else
    spans.close_all(left, ticks_now());
  if (is_generator(iterator) && !made) note_frame(loader, frame, left == Kind::leave);
  loader.fresh = made;
  loader.over = left != Kind::leave && !made;
  note_steps_after(loader, left == Kind::leave ? identity : nullptr);
  tell_calls_outside();
  left == Kind::leave ? end_batch(*thread) : rest(*thread);
  return result;
}

// What an iterator's function gave so far was batches, it is known now. `live`: its object; nullptr: a
// generator's. Not where a model iterates in its forward: over its layers, time steps, boxes.
void recognize(py::Object* code, const py::Object* live, std::span<const GivenBatch> batches) {
  if (is_inside_of_module()) {
    candidate = Candidate{};
    return look_at_calls(code, 0);
  }
  OtherLoader* const loader = find_loader_of(nullptr);
  if (loader == nullptr) return;
  Thread* const thread = current_thread();
  if (thread == nullptr) return;
  begin_earlier(*thread, batches.front().begin);
  const void* iterator = nullptr;
  for (const GivenBatch& batch : batches) {
    if (batch.iterator != iterator)
      begin_iterator(*loader, code, static_cast<const py::Object*>(batch.iterator), live);
    iterator = batch.iterator;
    if (batch.begin < thread->last) continue;  // what was recorded since hides when it was waited for
    Getting(*thread, *loader, batch.begin, false).came(*thread, *loader, batch.end, batch.samples);
  }
  loader->iterator = live;
  loader->is_package = owner_of(code) >= kFirstPackage;
  note_steps_after(*loader, iterator);
  candidate = Candidate{};
  if (!loader->is_package) of_program = true;
  if (SegmentHeader* const header = process.segment.header)
    header->other_loaders |= loader->is_package ? kLoaderOfPackage : kLoaderOfProgram;
  end_batch(*thread);
}

// As of_iterator(), of an iterator that is no package's: see own_loaders.hpp.
py::Object* of_own_iterator(Call& call, unsigned looks, py::Object* code, const py::Object* iterator) {
  if (has_torch_iterators() || trains_with_package) {
    look_at_calls(code, 0);
    return call.run();
  }
  const std::uint64_t begin = ticks_now(), got_before = batches_got;
  const void* const identity = identity_of(call, iterator);
  OwnCall own(code, identity, Whose::program);
  py::Object* const result = call.run();
  if (process.generation != 0) return result;
  if (result == nullptr) {  // an exception is pending: nothing may be asked
    own.ended();
    return result;
  }
  if (trains_with_package || (batches_got != got_before && has_more)) {  // it gives on a loader's batches
    look_at_calls(code, 0);
    return result;
  }
  if (!holds_data(result)) {
    if (py::is_none(result) || is_made_generator(result, iterator)) own.ended();
    look_at_calls(code, looks - 1);
    return result;
  }
  const GivenBatch got{identity, begin, ticks_now(), length_of(result)};
  const GivenBatch shown[] = {candidate.batch, got};  // behind a progress bar, so far
  const std::span<const GivenBatch> batches = candidate.code == code ? shown : own.gave(got);
  if (!batches.empty())
    recognize(code, iterator, batches);
  else if (own.is_hopeless())
    look_at_calls(code, 0);
  return result;
}

}  // namespace

bool is_iterating() { return iterating || getting || OwnCall::is_running(); }

bool may_be_stage() { return !has_torch_iterators() || loaders[0].code != nullptr; }

bool parent_makes_for(std::uint32_t owner) {
  const std::uint32_t wanted = owner == kProgram ? kLoaderOfProgram : kLoaderOfProgram | kLoaderOfPackage;
  if ((parent.loaders & wanted) != 0) return true;
  const std::uint64_t now = ticks_now();
  if (now < parent.next_look) return false;
  constexpr std::uint64_t kLooksPerSecond = 500;  // the first ones; then ever fewer, down to one in 2 s
  const std::uint64_t second = ticks_per_second();
  parent.interval = parent.interval == 0 ? second / kLooksPerSecond : parent.interval * 2;
  if (parent.interval > 2 * second) parent.interval = 2 * second;
  parent.next_look = now + parent.interval;
  const int saved = errno;
  parent.loaders = lifecycle.loaders_of_ancestor();
  errno = saved;
  return (parent.loaders & wanted) != 0;
}

bool may_begin_with_batch() {
  const bool is_recorded = this_thread.recorder != nullptr && this_thread.generation == process.generation;
  if (is_recorded || has_torch_iterators()) return false;
  return (candidate.code != nullptr && trains_with_batch_of(candidate.steps)) || may_have_own_loader();
}

bool makes_for(std::uint32_t owner) { return owner >= kFirstPackage || of_program; }

// Python's own iterator of a pool's results has a `next` that is its __next__.
bool may_give_batches(std::string_view file, std::string_view function) {
  const std::uint32_t owner = owner_of_file(file);
  return owner != kPyTorch && (owner < kFirstPackage || function != "next");
}

py::Object* of_iterator(Call& call, unsigned looks) {
  if (is_watched_model(call.code)) return of_model(call);
  if (!may_train()) {
    if (process.generation != 0) look_at_calls(call.code, 0);
    return call.run();
  }
  py::api.Py_IncRef(call.code);
  const Owned code(call.code);
  const Function function(call);
  if (function.makes) {
    look_at_calls(code.get(), looks - 1);
    const Setting now(iterating, true);
    return call.run();
  }
  const py::Object* const iterator = function.iterator;
  const std::uint64_t begin = ticks_now();
  const void* const identity = identity_of(call, iterator);  // the frame is gone after the call
  if (getting) {
    py::Object* result = call.run();
    if (result != nullptr && getting && holds_arrays(result))
      passed = {
          result, owner_of(code.get()), {code.get(), {identity, begin, ticks_now(), length_of(result)}}};
    return result;
  }
  if (OtherLoader* const loader = find_loader_of(call.code)) return get_batch(call, *loader, iterator);
  if (owner_of(code.get()) < kFirstPackage) return of_own_iterator(call, looks, code.get(), iterator);
  if (is_made_now()) return call.run();
  passed = Passed{};
  OwnCall own(code.get(), identity, Whose::package);
  py::Object* result = nullptr;
  {
    const Setting now(getting, true);
    result = call.run();
  }
  if (process.generation != 0) return result;
  const std::uint64_t end = ticks_now();
  if (has_torch_iterators()) {
    if (result != nullptr) look_at_calls(code.get(), 0);
    return result;
  }
  if (result == nullptr) {  // an exception is pending: nothing may be asked
    own.ended();
    return result;
  }
  if (!holds_arrays(result)) {
    if (py::is_none(result) || is_made_generator(result, iterator)) own.ended();
    look_at_calls(code.get(), looks - 1);
    return result;
  }
  if (is_made_by_model(result)) {
    look_at_calls(code.get(), 0);
    return result;
  }
  if (result == passed.result && owner_of(code.get()) != passed.owner) {  // it only hands on
    look_at_calls(code.get(), 0);
    candidate = passed.by;
    candidate.steps = optimizer_steps_taken();
    candidate.handed_on = true;
    return result;
  }
  const GivenBatch got{identity, begin, end, length_of(result)};
  const bool is_second = candidate.code == code.get();
  if (!(is_second && candidate.handed_on) && is_taken_by_package(iterator)) {
    const std::span<const GivenBatch> batches = own.gave(got);
    if (!batches.empty())
      recognize(code.get(), iterator, batches);
    else if (own.is_hopeless())
      look_at_calls(code.get(), 0);
    return result;
  }
  const GivenBatch both[] = {candidate.batch, got};  // the second one tells
  if (is_second)
    recognize(code.get(), iterator, both);
  else
    candidate = {code.get(), got, optimizer_steps_taken()};
  return result;
}

void forget_other_loaders() {
  for (OtherLoader& loader : loaders)
    if (loader.code != nullptr) loader = OtherLoader{};
  if (candidate.code != nullptr) candidate = Candidate{};
  getting = iterating = of_program = trains_with_package = has_more = false;
  forget_own_loaders();
  parent = Parent{};
}

}  // namespace lotus
