// Common parts of the commands about stack samples.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "answers/stacks/profile.hpp"
#include "commands/command.hpp"

namespace lotus::analyzer {

// Declares --op and --worker.
void add_profile_filter(CLI::App& app, ProfileFilter& filter);

// Reads each trace's samples and shows them. Throws WrongUsage when no trace has the operation or the worker
// of the filter.
using ShowProfile = std::function<void(const Trace&, const Profile&, const Reading&)>;
void each_profile(const std::vector<std::string>& traces, const ProfileFilter& filter,
                  const ShowProfile& show);

}  // namespace lotus::analyzer
