// What the frame evaluator adds to a Python call in this process.
#pragma once

namespace lotus {

// Times calls of a small Python function with the evaluator and without it, half a millisecond, for
// call_costs. The evaluator is in use in the end. `sampled`: stack snapshots will be taken, and calls inside
// a pipeline be named for them.
void measure_call_costs(bool sampled);

}  // namespace lotus
