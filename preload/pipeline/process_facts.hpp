// What a process uses, recorded now and then where it has made a batch.
#pragma once

namespace lotus {

// Called where a worker begins.
void tell_first_footprint();

// Called after each batch, in the process that made it; hold the GIL.
void tell_process_facts();

}  // namespace lotus
