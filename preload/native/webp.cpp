// libwebp: interposed functions that decode.
#include "native/bindings.hpp"

namespace lotus {
namespace {

// The rule of the table.
using decodes = timed_each<4>;  // VP8_STATUS_UNSUPPORTED_FEATURE

}  // namespace

LOTUS_INTERPOSE(LOTUS_WEBP_HOOKS)

}  // namespace lotus
