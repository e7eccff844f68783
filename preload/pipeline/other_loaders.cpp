#include "pipeline/other_loaders.hpp"

#include <cstdint>
#include <string_view>

#include "pipeline/batch_message.hpp"
#include "pipeline/contexts.hpp"
#include "pipeline/iterators.hpp"
#include "pipeline/libraries.hpp"
#include "pipeline/pauses.hpp"
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
};
constinit OtherLoader loaders[kMostLoaders] = {};

// What gave one batch so far.
struct Candidate {
  const py::Object* code = nullptr;
  const py::Object* iterator = nullptr;
  std::uint64_t begin = 0, end = 0;  // ticks
  std::uint64_t samples = 0;
};
constinit Candidate candidate{};

// What the last call inside of the outermost one gave.
struct Passed {
  const py::Object* result = nullptr;  // only compared
  std::uint32_t owner = 0;             // whose code it is, …
  Candidate by{};                      // … and which
};
constinit Passed passed{};
constinit bool getting = false;    // the main thread is in the outermost call of an iterator
constinit bool iterating = false;  // … in a package's __iter__

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
    const int place = text == "__next__" ? local_index(call.code, "self") : -1;
    if (place >= 0) iterator = local_variable(call, place);
  }
  bool makes = false;  // __iter__ that gives another object
  const py::Object* iterator = nullptr;
};

void begin_iterator(OtherLoader& loader, py::Object* code, const py::Object* iterator) {
  const CodeText text(code);
  char library[128];
  const std::string_view type = is_generator(iterator)
                                    ? text.name().substr(0, text.name().find(".<locals>"))
                                    : std::string_view(py::type_name(py::type_of(iterator)));
  const Iterator* entry = add_other_iterator(is_generator(iterator) ? code : iterator, code, type,
                                             name_of_library(text.file(), library, sizeof library));
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

py::Object* get_batch(Call& call, OtherLoader& loader, const py::Object* iterator) {
  if (loader.over && is_generator(iterator) && py::layout->minor >= 11) {
    loader.over = false;
    loader.fresh = true;
    return call.run();
  }
  if (loader.over || loader.fresh || loader.iterator != iterator) begin_iterator(loader, call.code, iterator);
  Thread* const thread = current_thread();
  if (thread == nullptr) return call.run();
  Getting spans(*thread, loader, ticks_now(), true);
  py::Object* result = nullptr;
  {
    StageContext stage(owner_of(call.code));
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
  loader.fresh = made;
  loader.over = left != Kind::leave && !made;
  tell_calls_outside();
  left == Kind::leave ? end_batch(*thread) : rest(*thread);
  return result;
}

// The second batch came: here it is, and the first one.
void recognize(py::Object* code, const py::Object* iterator, const Candidate& second) {
  OtherLoader* const loader = find_loader_of(nullptr);
  if (loader == nullptr) return;
  Thread* const thread = current_thread();
  if (thread == nullptr) return;
  begin_earlier(*thread, candidate.begin);
  for (const Candidate& batch : {candidate, second}) {
    if (batch.iterator != loader->iterator || loader->code == nullptr)
      begin_iterator(*loader, code, batch.iterator);
    Getting(*thread, *loader, batch.begin, false).came(*thread, *loader, batch.end, batch.samples);
  }
  loader->iterator = iterator;
  candidate = Candidate{};
  end_batch(*thread);
}

}  // namespace

bool is_iterating() { return iterating || getting; }

bool may_be_stage() { return !has_torch_iterators() || loaders[0].code != nullptr; }

bool may_give_batches(std::string_view file) { return owner_of_file(file) >= kFirstPackage; }

py::Object* of_iterator(Call& call, unsigned looks) {
  if (!may_train()) return call.run();
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
  if (getting) {
    py::Object* result = call.run();
    if (result != nullptr && getting && holds_arrays(result))
      passed = {result, owner_of(code.get()), {code.get(), iterator, begin, ticks_now(), length_of(result)}};
    return result;
  }
  if (is_made_now()) return call.run();
  if (OtherLoader* const loader = find_loader_of(call.code)) return get_batch(call, *loader, iterator);
  passed = Passed{};
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
  if (result == nullptr) return result;  // an exception is pending: nothing may be asked
  if (!holds_arrays(result)) {
    look_at_calls(code.get(), looks - 1);
    return result;
  }
  if (result == passed.result && owner_of(code.get()) != passed.owner) {  // it only hands on
    look_at_calls(code.get(), 0);
    candidate = passed.by;
    return result;
  }
  const Candidate got{code.get(), iterator, begin, end, length_of(result)};
  if (candidate.code == code.get())
    recognize(code.get(), iterator, got);
  else
    candidate = got;
  return result;
}

void forget_other_loaders() {
  for (OtherLoader& loader : loaders)
    if (loader.code != nullptr) loader = OtherLoader{};
  if (candidate.code != nullptr) candidate = Candidate{};
  getting = iterating = false;
}

}  // namespace lotus
