// The thread pools of a worker: those of libraries that are loaded, by their own functions; those of
// libraries that will be, by the environment variables that they read.
#include <cstdio>
#include <cstring>
#include <string_view>

#include "pipeline/handlers.hpp"
#include "pipeline/trial.hpp"
#include "python/objects.hpp"
#include "system/loaded.hpp"

namespace lotus {
namespace {

// Functions of modules give way to ones that do nothing, so that the program's own calls change nothing.
constexpr char kSource[] =
    "import os, sys\n"
    "threads = %ld\n"
    "for name in ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'BLIS_NUM_THREADS',\n"
    "             'NUMEXPR_NUM_THREADS', 'OPENCV_FOR_THREADS_NUM', 'RAYON_NUM_THREADS'):\n"
    "    os.environ[name] = str(threads)\n"
    "for module, name in (('torch', 'set_num_threads'), ('cv2', 'setNumThreads'), ('numexpr', "
    "'set_num_threads')):\n"
    "    module = sys.modules.get(module)\n"
    "    if hasattr(module, name):\n"
    "        getattr(module, name)(threads)\n"
    "        setattr(module, name, lambda *_, **__: None)\n";

// `format`: a program with a number in it.
template <std::size_t N>
void run_source(const char (&format)[N], long threads) {
  constexpr int kFileInput = 257;
  char source[1024];
  std::snprintf(source, sizeof source, format, threads);
  py::Object* builtins = loaded_module("builtins");
  const Owned code(py::api.Py_CompileString(source, "<lotus>", kFileInput));
  const Owned globals(py::api.PyDict_New());
  if (code && globals && builtins != nullptr &&
      py::api.PyDict_SetItemString(globals.get(), "__builtins__", builtins) == 0) {
    const Owned result(py::api.PyEval_EvalCode(code.get(), globals.get(), globals.get()));
  }
  py::api.PyErr_Clear();
}

// Each takes the number as an int or a long.
struct PoolSetter {
  std::string_view library;  // part of its file's name
  const char* function;
};
constexpr PoolSetter kPoolSetters[] = {
    {"gomp", "omp_set_num_threads"},
    {"iomp", "omp_set_num_threads"},
    {"libomp", "omp_set_num_threads"},
    {"blas", "openblas_set_num_threads"},
    {"blas", "openblas_set_num_threads64_"},
    {"blas", "scipy_openblas_set_num_threads"},
    {"blas", "scipy_openblas_set_num_threads64_"},
    {"blis", "bli_thread_set_num_threads"},
    {"mkl_rt", "MKL_Set_Num_Threads"},
};

void set_in_library(const link_map& map, long threads) {
  const char* slash = std::strrchr(map.l_name, '/');
  const std::string_view file = slash != nullptr ? slash + 1 : map.l_name;
  for (const PoolSetter& row : kPoolSetters) {
    if (file.find(row.library) == std::string_view::npos) continue;
    if (const Symbol symbol = find_symbol({&map}, row.function))
      reinterpret_cast<void (*)(long)>(symbol.address())(threads);
  }
}

// From any loaded object to the first one, and through all: a worker's main thread loads nothing meanwhile.
void set_in_libraries(long threads) {
  const link_map* map = find_loaded(reinterpret_cast<const void*>(&set_in_libraries)).map;
  while (map != nullptr && map->l_prev != nullptr) map = map->l_prev;
  for (; map != nullptr; map = map->l_next)
    if (map->l_name != nullptr) set_in_library(*map, threads);
}

// -1: OpenCV is not loaded.
long threads_of_opencv() {
  py::Object* opencv = loaded_module("cv2");
  const Owned get(opencv != nullptr ? py::api.PyObject_GetAttrString(opencv, "getNumThreads") : nullptr);
  const Owned number(get ? py::api.PyObject_CallObject(get.get(), nullptr) : nullptr);
  if (!number) py::api.PyErr_Clear();
  return static_cast<long>(integer_of(number.get(), -1));
}

}  // namespace

py::Object* get_iterator(Call& call) {
  const long before = is_limiting_threads() ? threads_of_opencv() : -1;
  if (before < 0) return call.run();
  constexpr char kSet[] = "import sys\nsys.modules['cv2'].setNumThreads(%ld)\n";
  run_source(kSet, 1);
  py::Object* result = call.run();
  if (result != nullptr) run_source(kSet, before);
  return result;
}

void limit_thread_pools(long threads) {
  set_in_libraries(threads);
  run_source(kSource, threads);
}

}  // namespace lotus
