#include "demangle.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unordered_map>

// After the standard library's headers, which its macros would break.
#include <libiberty/demangle.h>

extern "C" int rust_demangle_callback(const char* mangled, int options, demangle_callbackref callback,
                                      void* opaque);

namespace lotus::collector {
namespace {

constexpr int kCxx = DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP;
constexpr std::size_t kMaxMangled = 4096;  // longer ones take too long and are no use to a reader
constexpr std::size_t kMaxName = std::size_t{1} << 16;

// A part of a mangled name may refer to another part by its number, and that again to another: a few bytes
// may expand to more text than there is memory. These bound the text, and the work to print it.
constexpr std::uint64_t kMaxParts = std::uint64_t{1} << 16;
constexpr unsigned kMaxDepth = 1024;
constexpr std::uint64_t kMaxSavedTemplates = std::uint64_t{1} << 14;  // 16 bytes of stack each

// Thrown through libiberty's frames, which own nothing that would leak.
struct TooLong {};

void append(const char* text, std::size_t size, void* name) {
  auto& all = *static_cast<std::string*>(name);
  if (size > kMaxName - all.size()) throw TooLong{};
  all.append(text, size);
}

// `print` calls append() with the parts of a name and returns whether the name is valid. Empty: it is not, or
// is too long.
template <class Print>
std::string printed(Print print) {
  std::string name;
  try {
    if (print(&name) == 0) name.clear();
  } catch (const TooLong&) {
    name.clear();
  }
  return name;
}

// Measures a parsed C++ name; visits each part once.
class CxxParts {
 public:
  bool few(const demangle_component* name) {
    return count(name, 0) < kMaxParts && scopes_ * templates_ <= kMaxSavedTemplates;
  }

 private:
  // The number of parts that would be printed, at most kMaxParts.
  std::uint64_t count(const demangle_component* part, unsigned depth) {
    if (part == nullptr) return 0;
    if (depth > kMaxDepth) return kMaxParts;
    if (const auto known = counts_.find(part); known != counts_.end()) return known->second;
    std::uint64_t all = 1;
    for (const demangle_component* inner : parts_of(*part))
      all = std::min(all + count(inner, depth + 1), kMaxParts);
    return counts_[part] = all;
  }

  // Counts as libiberty does for the size of its arrays on the stack.
  void note(const demangle_component& part) {
    const bool reference =
        part.type == DEMANGLE_COMPONENT_REFERENCE || part.type == DEMANGLE_COMPONENT_RVALUE_REFERENCE;
    if (part.type == DEMANGLE_COMPONENT_TEMPLATE) templates_ += 2;
    if (reference && part.u.s_binary.left != nullptr &&
        part.u.s_binary.left->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM)
      scopes_ += 2;
  }

  std::array<const demangle_component*, 2> parts_of(const demangle_component& part) {
    note(part);
    switch (part.type) {
      case DEMANGLE_COMPONENT_CTOR:
        return {part.u.s_ctor.name, nullptr};
      case DEMANGLE_COMPONENT_DTOR:
        return {part.u.s_dtor.name, nullptr};
      case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
        return {part.u.s_extended_operator.name, nullptr};
      case DEMANGLE_COMPONENT_LAMBDA:
      case DEMANGLE_COMPONENT_DEFAULT_ARG:
        return {part.u.s_unary_num.sub, nullptr};
      case DEMANGLE_COMPONENT_FIXED_TYPE:
      case DEMANGLE_COMPONENT_GLOBAL_CONSTRUCTORS:
      case DEMANGLE_COMPONENT_GLOBAL_DESTRUCTORS:
        return {part.u.s_binary.left, nullptr};
      case DEMANGLE_COMPONENT_NAME:
      case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
      case DEMANGLE_COMPONENT_FUNCTION_PARAM:
      case DEMANGLE_COMPONENT_SUB_STD:
      case DEMANGLE_COMPONENT_BUILTIN_TYPE:
      case DEMANGLE_COMPONENT_OPERATOR:
      case DEMANGLE_COMPONENT_CHARACTER:
      case DEMANGLE_COMPONENT_NUMBER:
      case DEMANGLE_COMPONENT_UNNAMED_TYPE:
        return {};
      default:
        // Kinds of later versions of libiberty may have any children.
        if (part.type > DEMANGLE_COMPONENT_CLONE) return {};
        return {part.u.s_binary.left, part.u.s_binary.right};
    }
  }

  std::unordered_map<const demangle_component*, std::uint64_t> counts_;
  std::uint64_t scopes_ = 0, templates_ = 0;
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// Names in an older mangling, which libiberty parses and prints in one call. Only names without packs: for
// these, the work is bounded by the text that is printed.
std::string older_cxx_name(const std::string& mangled) {
  if (mangled.find("Dp") != std::string::npos || mangled.find("sp") != std::string::npos) return {};
  return printed(
      [&](std::string* name) { return cplus_demangle_v3_callback(mangled.c_str(), kCxx, append, name); });
}

std::string cxx_name(const std::string& mangled) {
  void* memory = nullptr;
  demangle_component* const parsed = cplus_demangle_v3_components(mangled.c_str(), kCxx, &memory);
  const std::unique_ptr<void, Free> owner(memory);
  if (parsed == nullptr) return older_cxx_name(mangled);
  if (!CxxParts().few(parsed)) return {};
  return printed(
      [&](std::string* name) { return cplus_demangle_print_callback(kCxx, parsed, append, name); });
}

std::string rust_name(const std::string& mangled) {
  return printed(
      [&](std::string* name) { return rust_demangle_callback(mangled.c_str(), DMGL_ANSI, append, name); });
}

}  // namespace

std::string demangled(const char* symbol) {
  std::string name(symbol);
  if (const auto version = name.find('@', 1); version != std::string::npos) name.resize(version);
  const bool mangled = name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("__Z");
  if (!mangled || name.size() > kMaxMangled) return name;
  if (std::string rust = rust_name(name); !rust.empty()) return rust;
  if (std::string cxx = cxx_name(name); !cxx.empty()) return cxx;
  return name;
}

const std::string& Demangler::name_of(const char* symbol) {
  const auto [known, is_new] = names_.try_emplace(symbol);
  if (is_new) known->second = demangled(symbol);
  return known->second;
}

}  // namespace lotus::collector
