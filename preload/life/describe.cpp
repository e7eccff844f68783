#include "life/describe.hpp"

#include <unistd.h>

#include <cstring>
#include <lotus/machine.hpp>

#include "life/session.hpp"
#include "pipeline/ranks.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"
#include "system/cores.hpp"
#include "system/files.hpp"

namespace lotus {
namespace {

// The command line with its arguments separated by spaces; cut at the buffer's end.
std::string_view command_line(char (&buffer)[2048]) {
  std::size_t size = read_file("/proc/self/cmdline", buffer, sizeof buffer);
  while (size > 0 && buffer[size - 1] == '\0') --size;
  for (std::size_t i = 0; i < size; ++i)
    if (buffer[i] == '\0') buffer[i] = ' ';
  return {buffer, size};
}

// Measured once: a child that is forked has its parent's.
std::uint64_t pair_cost_ps() {
  static constinit std::uint64_t cost = 0;
  if (cost == 0) cost = measure_pair_ps();
  return cost;
}

}  // namespace

void describe_process() {
  if (py::layout == nullptr) return;  // recording without Python: benchmarks and tests
  char arguments[2048];
  char directory[1024] = {};
  char host[256] = {};
  if (getcwd(directory, sizeof directory) == nullptr) directory[0] = '\0';
  gethostname(host, sizeof host - 1);
  std::string_view python = py::api.Py_GetVersion();
  python = {python.data(), std::strcspn(python.data(), " ")};
  py::Object* modules = py::api.PyImport_GetModuleDict();
  py::Object* torch = modules != nullptr ? py::api.PyDict_GetItemString(modules, "torch") : nullptr;
  const Owned version(torch != nullptr ? py::api.PyObject_GetAttrString(torch, "__version__") : nullptr);
  py::api.PyErr_Clear();
  const SegmentHeader& header = *process.segment.header;
  define<Kind::process>(header.pid, header.parent_pid, python, std::string_view(session.program),
                        command_line(arguments), std::string_view(directory), std::string_view(host),
                        usable_cores(), pair_cost_ps(), text_of(version.get()));
  define<Kind::architecture>(std::string_view(kOwnRegisters.name));
  if (const Rank& rank = rank_of_process(); rank.known())
    define<Kind::rank>(rank.rank, rank.world, rank.local);
}

}  // namespace lotus
