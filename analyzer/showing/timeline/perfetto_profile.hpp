// The events of a PyTorch profile as slices and instants of a Perfetto trace.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "showing/timeline/perfetto_file.hpp"
#include "showing/timeline/torch_profile.hpp"

namespace lotus::analyzer {

class PerfettoProfile {
 public:
  // `own_process`: the track of a process of the trace, 0 for any other pid. All outlive the object.
  PerfettoProfile(PerfettoFile& file, const TorchProfile& profile,
                  std::function<std::uint64_t(std::uint64_t)> own_process)
      : file_(file), profile_(profile), own_process_(std::move(own_process)) {}

  // X and i events; arrows from the calls of a device's library to its kernels follow from their
  // correlations.
  void draw(const ProfileEvent& event);

 private:
  std::uint64_t track_of(const ProfileEvent& event);
  std::uint64_t process_of(const std::string& pid);
  void describe(const ProfileEvent& event, PerfettoSlice& slice);

  PerfettoFile& file_;
  const TorchProfile& profile_;
  std::function<std::uint64_t(std::uint64_t)> own_process_;
  std::map<std::string, std::uint64_t> processes_;                       // pid as JSON → track
  std::map<std::pair<std::string, std::string>, std::uint64_t> tracks_;  // (pid, tid) as JSON → track
  Annotations facts_;
  std::string packets_;
};

}  // namespace lotus::analyzer
