// TurboJPEG: interposed decompression functions. Its handles do not say which library made them.
#include "native/bindings.hpp"

namespace lotus {
namespace {

// The rule of the table.
using decompresses = timed_each<-1>;

}  // namespace

LOTUS_INTERPOSE(LOTUS_TURBOJPEG_HOOKS)

}  // namespace lotus
