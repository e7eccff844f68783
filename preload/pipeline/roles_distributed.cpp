// What a program says of its ranks.
#include "pipeline/handlers.hpp"
#include "pipeline/ranks.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"

namespace lotus {

// torch.distributed.init_process_group(…, world_size, rank, …): for programs that start their ranks by
// themselves.
py::Object* init_process_group(Call& call) {
  const std::int64_t rank = integer_of(role_local(call, 0), -1);
  const std::int64_t world = integer_of(role_local(call, 1), -1);
  py::Object* result = call.run();
  if (result == nullptr || rank_of_process().known()) return result;
  learn_rank(rank, world);
  const Rank& found = rank_of_process();
  if (found.known() && process.segment.header != nullptr)
    define<Kind::rank>(found.rank, found.world, found.local);
  return result;
}

}  // namespace lotus
