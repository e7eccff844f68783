#include "pipeline/feeder.hpp"

namespace lotus {

constinit std::int64_t batches_in_feeder = 0;

}  // namespace lotus
