#include "operators/offload.hpp"

#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

#include "operators/offload_source.hpp"
#include "python/objects.hpp"
#include "python/state_lock.hpp"
#include "record/recorder.hpp"
#include "system/files.hpp"
#include "system/log.hpp"

namespace lotus {

constinit Offload offload{};

namespace {

constexpr std::uint64_t kFirstPlanned = 3;  // before it, memory and the layout of tensors are not settled

constinit char plan[kPathBytes] = "";
constinit bool begun = false;

// In `globals`, and what it leaves there as `problem`; empty: it works.
void run_program(py::Object* globals, char (&problem)[512]) {
  constexpr int kFileInput = 257;
  std::snprintf(problem, sizeof problem, "its program could not be run in this Python");
  py::Object* const builtins = loaded_module("builtins");
  const Owned file(py::api.PyUnicode_InternFromString(plan));
  const Owned address(py::api.PyLong_FromLong(static_cast<long>(reinterpret_cast<std::uintptr_t>(&offload))));
  if (builtins == nullptr || !file || !address) return;
  if (py::api.PyDict_SetItemString(globals, "__builtins__", builtins) != 0 ||
      py::api.PyDict_SetItemString(globals, "PLAN", file.get()) != 0 ||
      py::api.PyDict_SetItemString(globals, "SHARED", address.get()) != 0)
    return;
  const Owned code(py::api.Py_CompileString(kOffloadSource, "<frozen lotus.offload>", kFileInput));
  const Owned result(code ? py::api.PyEval_EvalCode(code.get(), globals, globals) : nullptr);
  if (!result) return;
  py::Object* const told = py::api.PyDict_GetItemString(globals, "problem");
  const std::string_view text = told != nullptr ? text_of(told) : std::string_view();
  std::snprintf(problem, sizeof problem, "%.*s", static_cast<int>(text.size()), text.data());
}

// Once: in the thread that trains, whose hooks of autograd these are.
void begin() {
  begun = true;
  char problem[512] = "";
  {
    const WithoutStateLock program_runs;
    const Owned globals(py::api.PyDict_New());
    if (globals) run_program(globals.get(), problem);
    py::api.PyErr_Clear();
  }
  // Without names of files: a trace may be given away.
  define<Kind::tried>("memory-plan", "", std::string_view(problem));
  if (problem[0] == '\0') return;
  char line[kPathBytes + sizeof problem + 64];
  std::snprintf(line, sizeof line, "LOTUS_TRY=memory-plan=%s is refused: %s", plan, problem);
  say(line);
  plan[0] = '\0';
}

}  // namespace

const char* want_offload(const char* path, std::uint64_t length) {
  plan[0] = '\0';
  begun = false;
  if (length == 0)
    return "memory-plan is a file, as lotus-analyze memory-plan --mode offload --json writes it";
  if (length >= kPathBytes) return "the name of memory-plan's file is too long";
  std::memcpy(plan, path, length);
  plan[length] = '\0';
  return nullptr;
}

bool wants_offload() { return plan[0] != '\0'; }

void begin_offload_step(std::uint64_t number) {
  // Between an optimizer's step that failed and its exception, nothing may be called.
  if (!begun && wants_offload() && py::api.PyErr_Occurred() == nullptr) begin();
  if (!begun || !wants_offload()) return;
  offload.moves = offload.bytes = offload.ns = offload.late = 0;
  offload.op = Offload::kNone;
  offload.step = number;
  offload.on = number >= kFirstPlanned && number % 2 == 1 ? 1 : 0;
}

OffloadPlan offload_plan() {
  if (offload.on == 0) return {};
  return {offload.planned_moves, offload.planned_ns, offload.planned_freed};
}

void end_offload_step() { offload.on = 0; }

void note_argument(std::uint64_t address) {
  const std::uint64_t known = offload.count < Offload::kStorages ? offload.count : Offload::kStorages;
  for (std::uint64_t i = 0; i < known; ++i)
    if (offload.storages[i] == address) return;
  if (offload.count < Offload::kStorages) offload.storages[offload.count] = address;
  ++offload.count;
}

}  // namespace lotus
