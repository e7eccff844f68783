// Which of the program's functions are operations inside of a loader of its own.
//
// What the code of such a loader calls is an operation, and so are the parts of an operation that are
// functions of the program's, one level deep, and methods of the loader itself: `make` calls `load` for each
// sample. Both may as well be a loop that lasts as long as its thread does, wait for other threads, or be so
// short that recording each call would cost more than it tells. So a few calls are looked at first, and then
// it is known for good.
#pragma once

#include "pipeline/contexts.hpp"
#include "python/call.hpp"

namespace lotus {

// The program's functions that such an operation calls are looked at, too, up to this level.
constexpr std::uint8_t kMostOpened = 2;

// Whether this function is one that has to be looked at before it is an operation of this stage.
bool is_part(const Call& call, const py::Object* first, const StageContext& stage);

// Runs one of those that is none, or of which it is not known yet.
py::Object* run_part_unrecorded(Call& call, py::Object* first, const StageContext& stage);

// This thread waits for what another one does.
void note_wait_for_thread();

}  // namespace lotus
