#include "commands/profiles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "answers/replay/plan.hpp"
#include "answers/stacks/profile.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

struct Present {
  std::set<std::string> ops;  // escaped
  std::set<std::uint64_t> workers;
};

void check(const ProfileFilter& filter, const Present& present) {
  if (filter.op && !present.ops.contains(escaped(*filter.op)))
    throw WrongUsage(present.ops.empty()
                         ? fmt::format("--op {}: no operation was recorded", escaped(*filter.op))
                         : fmt::format("--op {}: no such operation; there are {}", escaped(*filter.op),
                                       fmt::join(present.ops, ", ")));
  if (filter.worker && !present.workers.contains(*filter.worker))
    throw WrongUsage(present.workers.empty()
                         ? fmt::format("--worker {}: no worker was recorded", *filter.worker)
                         : fmt::format("--worker {}: no such worker; there are {}", *filter.worker,
                                       fmt::join(present.workers, ", ")));
}

}  // namespace

void add_profile_filter(CLI::App& app, ProfileFilter& filter) {
  // As the report names it.
  const auto full_name = [](std::string& name) {
    if (name == kOwnCode) name = kOutsideOps;
    return std::string();
  };
  app.add_option("--op", filter.op, "only this operation")
      ->type_name("NAME")
      ->transform(CLI::Validator(full_name, ""));
  app.add_option("--worker", filter.worker, "only workers of this id")
      ->type_name("ID")
      ->check(CLI::Range(0, 65535));
}

void each_profile(const std::vector<std::string>& traces, const ProfileFilter& filter,
                  const ShowProfile& show) {
  Present present;
  for (const auto& path : traces) {
    Trace trace(path);
    Profile profile(trace, filter);
    const Reading reading = read_trace(trace, profile);
    show(trace, profile, reading);
    for (const auto& name : profile.op_names()) present.ops.insert(escaped(name));
    for (const std::uint64_t id : profile.worker_ids()) present.workers.insert(id);
  }
  check(filter, present);
}

}  // namespace lotus::analyzer
