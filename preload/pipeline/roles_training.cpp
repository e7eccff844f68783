// What training does with its batches.
#include "operators/compilations.hpp"
#include "operators/steps.hpp"
#include "pipeline/handlers.hpp"
#include "pipeline/other_loaders.hpp"
#include "pipeline/own_loaders.hpp"
#include "pipeline/training_threads.hpp"

namespace lotus {

// What PyTorch puts around each optimizer's step(self, …). The file has another function of its name, a
// decorator that takes no *args.
py::Object* optimizer_step(Call& call) {
  const py::Object* const optimizer = first_of(role_local(call, 0));
  if (optimizer == nullptr) return call.run();
  note_optimizer_step();
  note_optimizer_step_here();
  if (may_begin_with_batch() && !records_all_steps()) return call.run();
  const OptimizerStep step(call.state, optimizer);
  return call.run();
}

// torch.autograd.backward and grad.
py::Object* backward_pass(Call& call) {
  note_backward_here();
  const BackwardPass pass;
  return call.run();
}

// torch.compile makes code of a function.
py::Object* compile_function(Call& call) {
  const CompilingScope compiling;
  return call.run();
}

}  // namespace lotus
