// Where liblotus.so comes into a process: its constructor, CPython's audit events, fork.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "autostart.hpp"
#include "callables.hpp"
#include "classify.hpp"
#include "config.hpp"
#include "evaluator.hpp"
#include "iterators.hpp"
#include "names.hpp"
#include "native/hooks.hpp"
#include "native/loaded.hpp"
#include "pipeline.hpp"
#include "recorder.hpp"
#include "sampler.hpp"
#include "session.hpp"
#include "signals.hpp"

namespace lotus {
namespace {

constinit bool attached = false;

// Before attach() only these two are known: enough to read the name of a module.
using TupleItem = py::Object* (*)(py::Object*, py::Ssize);
using Utf8 = const char* (*)(py::Object*, py::Ssize*);
constinit TupleItem tuple_item = nullptr;
constinit Utf8 utf8 = nullptr;

void in_forked_child() {
  forget_parent();
  forget_definitions();
  forget_iterators();
  here = PythonThread{};
  resume_samples();
}

// At the import of torch, before its first line runs: Dynamo must find our evaluator, not we Dynamo's.
void attach() {
  attached = true;
  read_config();
  if (config.off) return;
  const char* problem = py::resolve();
  if (problem == nullptr) {
    choose_clock();
    problem = install_evaluator();
  }
  if (problem != nullptr) {
    // The process that first met the problem tells; its descendants would only repeat it.
    switch_off(OffReason::none, problem);
    return;
  }
  pthread_atfork(hold_samples, resume_samples, in_forked_child);
}

// Audit events come with the GIL held. Both events of interest have their subject as first argument.
int audit(const char* event, py::Object* arguments, void*) {
  if (!attached) {
    if (std::strcmp(event, "import") != 0) return 0;
    if (tuple_item == nullptr) {
      tuple_item = reinterpret_cast<TupleItem>(dlsym(RTLD_DEFAULT, "PyTuple_GetItem"));
      utf8 = reinterpret_cast<Utf8>(dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8AndSize"));
    }
    if (tuple_item == nullptr || utf8 == nullptr || arguments == nullptr) return 0;
    py::Object* name = tuple_item(arguments, 0);
    const char* text = name != nullptr ? utf8(name, nullptr) : nullptr;
    if (text != nullptr && std::strcmp(text, "torch") == 0) {
      const int saved = errno;
      attach();
      errno = saved;
    }
    return 0;
  }
  if (here.sample != nullptr && std::strcmp(event, "open") == 0 && !process.off && arguments != nullptr &&
      py::api.PyErr_Occurred() == nullptr && py::api.PyTuple_Size(arguments) > 0)
    note_path(py::api.PyTuple_GetItem(arguments, 0));
  return 0;
}

[[gnu::constructor]] void enter_process() {
  find_real_files();
  find_real_signals();
  prepare_loaded();
  using Hook = int (*)(const char*, py::Object*, void*);
  using AddHook = int (*)(Hook, void*);
  const auto add = reinterpret_cast<AddHook>(dlsym(RTLD_DEFAULT, "PySys_AddAuditHook"));
  if (add == nullptr) return;  // not Python
  remember_stderr();
  remember_library();
  add(audit, nullptr);
}

}  // namespace
}  // namespace lotus
