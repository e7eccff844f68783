#include "python/shared_api.hpp"

#include "python/interpreter.hpp"

namespace lotus::py {

constinit SharedApi shared_api{};

bool find_shared_api() {
  bool complete = true;
#define LOTUS_PY_F(result, name, parameters) complete = find(shared_api.name, #name) && complete;
  LOTUS_PY_SHARED_FUNCTIONS(LOTUS_PY_F)
#undef LOTUS_PY_F
  return complete;
}

}  // namespace lotus::py
