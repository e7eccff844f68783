// How many cores this process may use.
#pragma once

#include <cstdint>

namespace lotus {

// Those that it may run on, or fewer where a control group (of Docker, Kubernetes, Slurm, systemd) grants it
// less time than they have: then that time in cores, rounded up. 0: not known. Opens some files.
std::uint64_t usable_cores();

}  // namespace lotus
