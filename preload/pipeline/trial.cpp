#include "pipeline/trial.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "operators/offload.hpp"
#include "python/classify.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"
#include "system/hash.hpp"
#include "system/log.hpp"

namespace lotus {
namespace {

// `threads` stays the last one: the others are parameters of DataLoader.
enum Item : std::uint8_t { workers, prefetch, persistent, pin_memory, in_order, threads, kItems };

struct ItemRow {
  const char* name;
  std::int64_t low, high;
  const char* expected;
};
constexpr ItemRow kItemRows[kItems] = {
    {"num_workers", 0, 1024, "a number from 0 to 1024"},
    {"prefetch_factor", 1, 1024, "a number from 1 to 1024, or none"},
    {"persistent_workers", 0, 1, "0 or 1"},
    {"pin_memory", 0, 1, "0 or 1"},
    {"in_order", 0, 1, "0 or 1"},
    {"threads", 1, 1024, "a number from 1 to 1024"},
};

// In the place of a number.
constexpr std::int64_t kOwn = -1;      // the program's own
constexpr std::int64_t kNone = -2;     // None
constexpr std::int64_t kUnknown = -3;  // something else, PyTorch will see

struct Values {
  std::int64_t of[kItems] = {kOwn, kOwn, kOwn, kOwn, kOwn, kOwn};
};
constinit Values tried{};
constinit bool wanted = false;

constexpr std::size_t kTextBytes = 192;
constinit char tried_text[kTextBytes] = "";
constinit char problem[kTextBytes] = "";
constinit const char* refusal = nullptr;  // why a loader stayed as it is, the first one
constinit bool told_trying = false, told_refusal = false;
constinit char remark[2 * kTextBytes] = "";

// "num_workers=8,pin_memory=1", of those that are tried.
void write_values(char (&text)[kTextBytes], const Values& values) {
  std::size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < kItems; ++i) {
    const std::int64_t value = values.of[i];
    if (value == kOwn) continue;
    char number[24] = "?";
    if (value == kNone) std::snprintf(number, sizeof number, "none");
    if (value >= 0) std::snprintf(number, sizeof number, "%lld", static_cast<long long>(value));
    used += static_cast<std::size_t>(std::snprintf(text + used, sizeof text - used, "%s%s=%s",
                                                   used == 0 ? "" : ",", kItemRows[i].name, number));
  }
}

int item_named(std::string_view name) {
  for (int i = 0; i < kItems; ++i)
    if (name == kItemRows[i].name) return i;
  return -1;
}

// kUnknown: it is none that the row allows.
std::int64_t value_of(const ItemRow& row, std::string_view text) {
  if (&row == &kItemRows[prefetch] && (text == "none" || text == "None")) return kNone;
  char digits[8];
  if (text.empty() || text.size() >= sizeof digits) return kUnknown;
  std::memcpy(digits, text.data(), text.size());
  digits[text.size()] = '\0';
  if (std::strspn(digits, "0123456789") != text.size()) return kUnknown;
  const std::int64_t number = std::strtol(digits, nullptr, 10);
  return number >= row.low && number <= row.high ? number : kUnknown;
}

struct Halves {
  std::string_view before, after;
  bool split;
};
Halves halves_of(std::string_view text, char at) {
  const std::size_t place = text.find(at);
  if (place == std::string_view::npos) return {text, {}, false};
  return {{text.data(), place}, {text.data() + place + 1, text.size() - place - 1}, true};
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// One `name=value`; `problem` says what is wrong with it.
void read_item(std::string_view text, Values& values) {
  const Halves halves = halves_of(text, '=');
  const int item = item_named(trimmed(halves.before));
  if (item < 0 || !halves.split) {
    std::snprintf(problem, sizeof problem,
                  "it is a list of num_workers=, prefetch_factor=, persistent_workers=, pin_memory=, "
                  "in_order= and threads= with commas between, or memory-plan=FILE alone");
    return;
  }
  const ItemRow& row = kItemRows[item];
  const std::int64_t value = value_of(row, trimmed(halves.after));
  if (value == kUnknown)
    std::snprintf(problem, sizeof problem, "%s is %s", row.name, row.expected);
  else if (values.of[item] != kOwn)
    std::snprintf(problem, sizeof problem, "%s stands there twice", row.name);
  values.of[item] = value;
}

// Why a combination is none without workers; what is not known is taken to be right.
const char* refused_without_workers(const Values& values, std::int64_t default_prefetch) {
  const std::int64_t factor = values.of[prefetch];
  if (values.of[persistent] > 0) return "persistent_workers=1 needs num_workers above 0";
  if (factor > 0 && factor != default_prefetch)
    return "prefetch_factor needs num_workers above 0 (without workers it is none)";
  return nullptr;
}

struct Parameter {
  int place = -1;
  py::Object* value = nullptr;  // borrowed
};

Parameter parameter_of(const Call& call, const char* name) {
  Parameter found{local_index(call.code, name)};
  found.value = local_variable(call, found.place);
  return found;
}

bool is_true(py::Object* object) {
  if (object == nullptr) return false;
  const int truth = py::api.PyObject_IsTrue(object);
  if (truth < 0) py::api.PyErr_Clear();
  return truth > 0;
}

std::int64_t given_value(py::Object* value) {
  return py::is_none(value) ? kNone : integer_of(value, kUnknown);
}

py::Object* attribute(py::Object* object, const char* name) {
  py::Object* found = object != nullptr ? py::api.PyObject_GetAttrString(object, name) : nullptr;
  if (found == nullptr) py::api.PyErr_Clear();
  return found;
}

// Up to 1.13 a loader without workers has a prefetch factor of 2, from 2.0 on None.
std::int64_t default_prefetch() {
  const Owned version(attribute(loaded_module("torch"), "__version__"));
  return text_of(version.get()).starts_with("1.") ? 2 : kNone;
}

// A daemonic process may have no children, as multiprocessing has it.
bool is_daemon() {
  const Owned current(attribute(loaded_module("multiprocessing.process"), "_current_process"));
  const Owned config(attribute(current.get(), "_config"));
  if (!config || !py::is_a(config.get(), py::kDict)) return false;
  return is_true(py::api.PyDict_GetItemString(config.get(), "daemon"));
}

// The parameters of a DataLoader that is being made.
class Parameters {
 public:
  explicit Parameters(const Call& call) : call_(call) {
    for (int i = 0; i < threads; ++i) {
      parameters_[i] = parameter_of(call, kItemRows[i].name);
      const bool known = parameters_[i].value != nullptr;
      given_.of[i] = known ? given_value(parameters_[i].value) : kUnknown;
      together_.of[i] = tried.of[i] != kOwn ? tried.of[i] : given_.of[i];
    }
  }

  // What the program gave for the settings that are tried.
  Values replaced() const {
    Values values;
    for (int i = 0; i < threads; ++i)
      if (tried.of[i] != kOwn) values.of[i] = given_.of[i];
    return values;
  }

  // Why PyTorch would not have it; nullptr: it would.
  const char* refused() const {
    for (int i = 0; i < threads; ++i)
      if (tried.of[i] != kOwn && parameters_[i].value == nullptr)
        return i == in_order ? "this PyTorch has no in_order" : "this PyTorch's DataLoader is not known";
    if (together_.of[workers] == 0) return refused_without_workers();
    return given_.of[workers] == 0 && is_daemon() ? "a daemonic process can have no workers" : nullptr;
  }

  void change() const {
    for (int i = 0; i < threads; ++i) {
      if (tried.of[i] == kOwn) continue;
      const Owned value(object_of(static_cast<Item>(i)));
      if (value) replace_local(call_, parameters_[i].place, value.get());
    }
    py::api.PyErr_Clear();
  }

 private:
  const char* refused_without_workers() const {
    const Parameter context = parameter_of(call_, "multiprocessing_context");
    if (context.value != nullptr && !py::is_none(context.value))
      return "multiprocessing_context needs num_workers above 0";
    if (is_true(parameter_of(call_, "timeout").value)) return "timeout needs num_workers above 0";
    return lotus::refused_without_workers(together_, default_prefetch());
  }

  static py::Object* object_of(Item item) {
    const std::int64_t value = tried.of[item];
    if (item >= persistent) return py::api.PyBool_FromLong(static_cast<long>(value));
    if (value != kNone) return py::api.PyLong_FromLong(static_cast<long>(value));
    const std::int64_t standard = default_prefetch();
    if (standard != kNone) return py::api.PyLong_FromLong(static_cast<long>(standard));
    auto* const none = static_cast<py::Object*>(py::api._Py_NoneStruct);
    py::api.Py_IncRef(none);
    return none;
  }

  const Call& call_;
  Parameter parameters_[threads];
  Values given_, together_;
};

const char* tell_trying() {
  told_trying = true;
  std::snprintf(remark, sizeof remark, "trying %s", tried_text);
  return remark;
}

const char* tell_refusal() {
  told_refusal = true;
  std::snprintf(remark, sizeof remark, "LOTUS_TRY=%s is refused for a DataLoader: %s", tried_text, refusal);
  return remark;
}

// Libraries make loaders again and again: what was said once is not said again.
bool is_new(std::string_view instead) {
  static constinit std::uint32_t said[16] = {};
  static constinit std::uint32_t generation = 0;
  if (generation != process.generation) std::memset(said, 0, sizeof said);
  generation = process.generation;
  const std::uint32_t hash = hash_text(instead);
  for (std::uint32_t& one : said) {
    if (one == hash) return false;
    if (one != 0) continue;
    one = hash;
    return true;
  }
  return false;
}

void record(const Parameters& parameters, const char* reason) {
  char instead[kTextBytes];
  write_values(instead, parameters.replaced());
  if (reason != nullptr && refusal == nullptr) refusal = reason;
  if (is_new(reason == nullptr ? instead
                               : reason))  // the process's first record, as a rule: the line is said
    define<Kind::tried>(std::string_view(tried_text), std::string_view(instead),
                        std::string_view(reason == nullptr ? "" : reason));
  if (current_thread() == nullptr) return;
  if (reason == nullptr && !told_trying) say(tell_trying());
  if (reason != nullptr && !told_refusal) say(tell_refusal());
}

}  // namespace

// "plan.json,num_workers=2"
static bool names_setting_after_comma(std::string_view text) {
  for (Halves rest = halves_of(text, ','); rest.split;) {
    rest = halves_of(rest.after, ',');
    const Halves item = halves_of(rest.before, '=');
    if (item.split && item_named(trimmed(item.before)) >= 0) return true;
  }
  return false;
}

const char* read_trial(const char* text) {
  wanted = false;
  tried = Values{};
  problem[0] = '\0';
  refusal = nullptr;
  constexpr std::string_view kPlan = "memory-plan=";
  if (std::string_view(text).starts_with(kPlan)) {
    const std::string_view file(text + kPlan.size());
    if (names_setting_after_comma(file))
      return "memory-plan=FILE stands alone: try other settings in another run, without it";
    const char* const why = want_offload(file.data(), file.size());
    std::snprintf(tried_text, sizeof tried_text, "%.*s", static_cast<int>(kTextBytes - 1), text);
    return why;
  }
  Values values;
  for (Halves rest{{}, text, true}; rest.split && problem[0] == '\0';) {
    rest = halves_of(rest.after, ',');
    read_item(rest.before, values);
  }
  if (problem[0] == '\0' && values.of[workers] == 0) {
    const char* refused = values.of[threads] > 0 ? "threads are those of workers, num_workers=0 means none"
                                                 : refused_without_workers(values, kNone);
    if (refused != nullptr) std::snprintf(problem, sizeof problem, "%s", refused);
  }
  if (problem[0] != '\0') return problem;
  tried = values;
  write_values(tried_text, tried);
  wanted = true;
  return nullptr;
}

bool is_trying() { return wanted; }
bool is_limiting_threads() { return wanted && tried.of[threads] > 0; }

const char* trial_remark() {
  if (!wanted) return wants_offload() ? tell_trying() : nullptr;
  return refusal == nullptr ? tell_trying() : tell_refusal();
}

void change_loader(const Call& call) {
  if (process.worker) return;  // no loader of the program's training
  const Parameters parameters(call);
  const char* reason = parameters.refused();
  record(parameters, reason);
  if (reason == nullptr && current_thread() != nullptr) parameters.change();
}

void limit_threads() { limit_thread_pools(static_cast<long>(tried.of[threads])); }

}  // namespace lotus
