#include "answers/report/thread_pools.hpp"

#include <algorithm>
#include <string_view>

namespace lotus::analyzer {
namespace {

struct Pool {
  std::string_view library;  // what its file's name begins with
  const char* name;
  const char* remedy;
};
// The settings are those of the libraries' manuals. A pool may be built on another one's threads (OpenCV's on
// TBB's, PyTorch's on OpenMP's): that which the user sets comes first.
// clang-format off
constexpr Pool kPools[] = {
    {"libopencv_",   "OpenCV",     "cv2.setNumThreads(0)"},
    {"cv2.",         "OpenCV",     "cv2.setNumThreads(0)"},
    {"libopenblas",  "OpenBLAS",   "OPENBLAS_NUM_THREADS=1"},
    {"libscipy_openblas", "OpenBLAS", "OPENBLAS_NUM_THREADS=1"},
    {"libmkl_",      "MKL",        "MKL_NUM_THREADS=1"},
    {"libblis",      "BLIS",       "BLIS_NUM_THREADS=1"},
    {"libarrow",     "Arrow",      "OMP_NUM_THREADS=1"},
    {"polars.",      "Polars",     "POLARS_MAX_THREADS=1"},
    {"tokenizers.",  "tokenizers", "TOKENIZERS_PARALLELISM=false"},
    {"omppool.",     "Numba",      "NUMBA_NUM_THREADS=1"},
    {"workqueue.",   "Numba",      "NUMBA_NUM_THREADS=1"},
    {"tbbpool.",     "Numba",      "NUMBA_NUM_THREADS=1"},
    {"libvips",      "libvips",    "VIPS_CONCURRENCY=1"},
    {"libgomp",      "OpenMP",     "OMP_NUM_THREADS=1"},
    {"libiomp5",     "OpenMP",     "OMP_NUM_THREADS=1"},
    {"libomp",       "OpenMP",     "OMP_NUM_THREADS=1"},
    {"libtbb",       "TBB",        ""},
    {"libtorch_",    "PyTorch",    "torch.set_num_threads(1)"},
    {"libpython",    "Python",     ""},
    {"python3",      "Python",     ""},
};
// clang-format on

std::string_view file_of(const Binary& binary) {
  const std::string_view path = binary.path;
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// The C and C++ runtimes, in which any thread begins and waits.
bool belongs_to_all(std::string_view file) {
  for (const std::string_view name :
       {"libc.", "libc-", "libpthread", "ld-", "libstdc++", "libm.", "[", "liblotus"})
    if (file.starts_with(name)) return true;
  return file.empty();
}

PoolFinding pool_of(const StackTable& stacks, std::uint64_t stack) {
  const Pool* known = nullptr;
  std::string_view outermost;
  for (const std::uint64_t id : stacks.path(stack)) {
    const Location* location = stacks.location(id);
    const Binary* binary = location != nullptr ? stacks.binary(location->binary) : nullptr;
    if (binary == nullptr) continue;
    const std::string_view file = file_of(*binary);
    const auto* const hit = std::find_if(std::begin(kPools), std::end(kPools),
                                         [&](const Pool& pool) { return file.starts_with(pool.library); });
    if (hit != std::end(kPools) && (known == nullptr || hit < known)) known = hit;
    if (!belongs_to_all(file)) outermost = file;
  }
  if (known != nullptr) return {known->name, known->remedy};
  return {std::string(outermost), ""};
}

}  // namespace

void PoolsCollector::end(const StackTable& stacks) {
  for (const auto& [stack, ns] : by_stack_) {
    PoolFinding pool = pool_of(stacks, stack);
    if (pool.name.empty()) continue;
    PoolFinding& sum = pools_[pool.name];
    pool.ns = sum.ns + ns;
    sum = std::move(pool);
  }
  by_stack_.clear();
}

std::vector<PoolFinding> PoolsCollector::take() const {
  std::vector<PoolFinding> pools;
  for (const auto& [name, pool] : pools_) pools.push_back(pool);
  std::stable_sort(pools.begin(), pools.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return pools;
}

}  // namespace lotus::analyzer
