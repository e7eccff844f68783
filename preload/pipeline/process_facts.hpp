// What a process uses, recorded now and then where it has made a batch.
#pragma once

namespace lotus {

// Called after each batch, in the process that made it; hold the GIL.
void tell_process_facts();

}  // namespace lotus
