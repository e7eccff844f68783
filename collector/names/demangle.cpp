#include "demangle.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

// libiberty's, declared here: its header defines macros that the standard library does not survive.
extern "C" char* cplus_demangle_v3(const char* mangled, int options);
extern "C" char* rust_demangle(const char* mangled, int options);

namespace lotus::collector {
namespace {

// demangle.h: DMGL_PARAMS, DMGL_ANSI, DMGL_RET_DROP.
constexpr int kParameters = 1 << 0;
constexpr int kQualifiers = 1 << 1;
constexpr int kNoReturnType = 1 << 6;
constexpr std::size_t kMaxMangled = 16384;  // longer ones take long and are read by nobody

struct Free {
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

std::string demangled(const char* symbol) {
  std::string name(symbol);
  if (const auto version = name.find('@', 1); version != std::string::npos) name.resize(version);
  const bool mangled = name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("__Z");
  if (!mangled || name.size() > kMaxMangled) return name;
  if (const std::unique_ptr<char, Free> rust{rust_demangle(name.c_str(), kQualifiers)}) return rust.get();
  if (const std::unique_ptr<char, Free> cxx{
          cplus_demangle_v3(name.c_str(), kParameters | kQualifiers | kNoReturnType)})
    return cxx.get();
  return name;
}

}  // namespace lotus::collector
