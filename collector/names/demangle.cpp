#include "demangle.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unordered_map>

// After the standard library's headers, which do not survive its macros.
#include <libiberty/demangle.h>

extern "C" int rust_demangle_callback(const char* mangled, int options, demangle_callbackref callback,
                                      void* opaque);

namespace lotus::collector {
namespace {

constexpr int kCxx = DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP;
constexpr std::size_t kMaxMangled = 4096;  // longer ones take long and are read by nobody
constexpr std::size_t kMaxName = std::size_t{1} << 16;

// A part of a mangled name may mean another part by its number, and that another: a few bytes may stand
// for more text than there is memory. Bounds on what is printed, and on what is looked through for it.
constexpr std::uint64_t kMaxParts = std::uint64_t{1} << 16;
constexpr unsigned kMaxDepth = 1024;
constexpr std::uint64_t kMaxSavedTemplates = std::uint64_t{1} << 14;  // 16 bytes of stack each

// Thrown through libiberty, which holds nothing that would have to be released.
struct TooLong {};

void append(const char* text, std::size_t size, void* name) {
  auto& all = *static_cast<std::string*>(name);
  if (size > kMaxName - all.size()) throw TooLong{};
  all.append(text, size);
}

// `print` calls append() with parts of a name and returns whether it is one; empty if not, or too long.
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

// Measures a parsed C++ name without walking through any part of it twice.
class CxxParts {
 public:
  bool few(const demangle_component* name) {
    return count(name, 0) < kMaxParts && scopes_ * templates_ <= kMaxSavedTemplates;
  }

 private:
  // Parts as they are printed, at most kMaxParts.
  std::uint64_t count(const demangle_component* part, unsigned depth) {
    if (part == nullptr) return 0;
    if (depth > kMaxDepth) return kMaxParts;
    if (const auto known = counts_.find(part); known != counts_.end()) return known->second;
    std::uint64_t all = 1;
    for (const demangle_component* inner : parts_of(*part))
      all = std::min(all + count(inner, depth + 1), kMaxParts);
    return counts_[part] = all;
  }

  // What libiberty reckons with for its arrays on the stack.
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
        // Later kinds of part may hold anything.
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

// Names that can only be parsed in an older way, which libiberty tries where it also prints. Without packs
// it looks through nothing but what it prints.
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
