// What functions are called, for stack snapshots and for operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "python/call.hpp"
#include "python/objects.hpp"
#include "record/process.hpp"

namespace lotus {

// What a code object says of itself. Its name is the qualified one from 3.11.
class CodeText {
 public:
  explicit CodeText(py::Object* code);
  std::string_view name() const { return text_of(name_.get()); }
  std::string_view file() const { return text_of(file_.get()); }
  std::int64_t line() const { return integer_of(line_.get(), 0); }

 private:
  Owned name_, file_, line_;
};

// Definition `code` of the function that is called, made if need be; 0: no room now.
std::uint32_t define_code(const Call& call);
inline std::uint32_t code_definition(const Call& call) {
  const CodeInfo& info = *call.info;
  const bool known = info.code_generation == process.generation && info.code_definition != 0;
  return known ? info.code_definition : define_code(call);
}

// Where an object is being made, and what it will be called: `loader = DataLoader(…)`. The place is the
// program's own where a library makes the object for it; it is named there if it is part of what is
// constructed there.
struct Origin {
  py::Object* code = nullptr;  // of the function at that place; held, released by release_origin()
  int line = 0;
  // Held by `namer`, a function's code, which is held itself. `loader` is {nullptr, name}, `self.loader`
  // both; a function that returns the object gives its own name. No name: the object goes elsewhere.
  py::Object* namer = nullptr;
  py::Object* owner = nullptr;
  py::Object* name = nullptr;
  bool returned = false;
};

// Of an object under construction, from the frame that runs now, its own constructors left out.
Origin origin_of(py::Object* object);
void release_origin(const Origin& origin);
// `self.loader`, `make_loader()`, or empty; into `buffer`.
std::string_view origin_name(const Origin& origin, char* buffer, std::size_t size);

// In a forked child: all are to be defined anew.
void forget_code_names();

}  // namespace lotus
