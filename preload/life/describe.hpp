#pragma once

namespace lotus {

// Sends the definition of this process: what ran where, with which versions. Needs the GIL.
void describe_process();

}  // namespace lotus
