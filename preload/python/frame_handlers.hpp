// What the evaluator hands a pipeline's frames on to; defined in pipeline/.
//
// They are declared here and called by name, not through pointers that are set at run time: each operation
// would pay for an indirect jump.
#pragma once

#include <string_view>

#include "python/call.hpp"

namespace lotus {

struct Context;
struct KnownOperation;

// Any frame below a fetch.
py::Object* in_pipeline(Call& call);
// A frame outside of all fetches, of a function of a dataset: CodeInfo::of_dataset.
py::Object* outside_of_pipeline(Call& call);

// A frame outside of the pipeline, of an iterator's function that may give batches, which is looked at so
// many more times.
py::Object* of_iterator(Call& call, unsigned looks);
// Whether an iterator's function of this name, whose code is in this file, may be that of a loader.
bool may_give_batches(std::string_view file, std::string_view function);

// The code that each call of a torch.nn.Module runs, which is looked at now and then as well.
bool is_call_of_model(std::string_view file, std::string_view function);
void note_call_of_model(py::Object* code);
bool is_watched_model(const py::Object* code);
py::Object* of_model(Call& call);

// The operation that this frame is known to be when it is called in `context`, a runner's or a sample's;
// nullptr: to be found out by in_pipeline().
const KnownOperation* find_known(const py::Object* code, const py::Frame* frame, const Context& context);
py::Object* run_known(py::ThreadState* state, py::Frame* frame, const KnownOperation& known,
                      Context& context);

// A code object is gone: what is known of operations by its address holds no more.
void forget_known_operations();

}  // namespace lotus
