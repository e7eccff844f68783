#include "python/python_calls.hpp"

#include "system/hot.hpp"

namespace lotus {

LOTUS_HOT constinit bool snapshots_on = false;

}  // namespace lotus
