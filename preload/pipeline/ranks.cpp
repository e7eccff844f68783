#include "pipeline/ranks.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "system/files.hpp"
#include "system/identity.hpp"

namespace lotus {
namespace {

constinit Rank found{};

// One launcher's variables a row. torchrun's come first: PyTorch itself reads them.
struct Launcher {
  const char *rank, *world, *local;
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
};

// -1: not set, or no number.
std::int64_t number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text < '0' || *text > '9') return -1;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  return *end == '\0' && value < 1ul << 31 ? static_cast<std::int64_t>(value) : -1;
}

void set(std::int64_t rank, std::int64_t world, std::int64_t local) {
  if (rank < 0 || world < 2 || rank >= world) return;
  found = {static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(world), local};
}

bool is_shell(std::uint32_t pid) {
  char path[64];
  char name[64];
  std::snprintf(path, sizeof path, "/proc/%u/comm", pid);
  const std::size_t size = read_file(path, name, sizeof name);
  if (size > 0 && name[size - 1] == '\n') name[size - 1] = '\0';
  for (const char* shell :
       {"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "csh", "tcsh", "busybox"})
    if (std::strcmp(name, shell) == 0) return true;
  return false;
}

}  // namespace

void learn_rank(std::int64_t rank, std::int64_t world) { set(rank, world, -1); }

const Rank& rank_of_process() {
  for (const auto& row : kLaunchers)
    if (!found.known()) set(number(row.rank), number(row.world), number(row.local));
  return found;
}

std::uint32_t launcher_of_ranks() {
  const Rank& rank = rank_of_process();
  if (!rank.known()) return 0;
  const std::uint32_t parent = own_identity().parent;
  // A container may have a launcher as its first process, or an init and one rank.
  const bool init = parent == 0 || (parent == 1 && (container() == 0 || rank.local < 0));
  return init || is_shell(parent) ? 0 : parent;
}

}  // namespace lotus
