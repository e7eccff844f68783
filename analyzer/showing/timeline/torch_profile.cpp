#include "showing/timeline/torch_profile.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>

#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

// Times before this (2001) are not relative to the epoch.
constexpr std::int64_t kEarliest = 1'000'000'000'000'000'000;
// Later times (2116) are invalid; below this, adding a duration cannot overflow.
constexpr std::int64_t kLatest = INT64_MAX / 2;

// None: the value is no time.
std::optional<std::int64_t> moved(std::int64_t time, std::int64_t base) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(time, base, &sum) || sum < 0 || sum > kLatest) return std::nullopt;
  return sum;
}

// UTC.
std::string time_text(std::int64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC", fmt::gmtime(seconds), ns / 1'000'000 % 1000);
}

std::string string_member(const std::string& object, const char* name) {
  const auto value = nlohmann::json::parse(object, nullptr, false);
  if (!value.is_object() || !value.contains(name) || !value[name].is_string()) return {};
  return value[name].get<std::string>();
}

}  // namespace

std::optional<std::uint64_t> number_of(const std::string& json) {
  std::uint64_t number = 0;
  const char* const last = json.data() + json.size();
  const auto [end, error] = std::from_chars(json.data(), last, number);
  if (error != std::errc() || end != last) return std::nullopt;
  return number;
}

std::string text_of(const std::string& json) {
  const auto value = nlohmann::json::parse(json, nullptr, false);
  return value.is_string() ? value.get<std::string>() : json;
}

TorchProfile::TorchProfile(std::string path) : path_(std::move(path)) {
  const ProfileFile file = read_profile_events(path_, [this](const ProfileEvent& event) { scan(event); });
  if (!file.listed || first_ > last_)
    throw Unusable(
        fmt::format("{}: is no profile of PyTorch: it has no {}; export one with "
                    "torch.profiler's export_chrome_trace()",
                    escaped(path_), file.listed ? "event with a time" : "traceEvents"));
  base_ = file.base_ns.value_or(0);
  const auto first = moved(first_, base_), last = moved(last_, base_);
  if (first.value_or(0) < kEarliest)
    throw Unusable(
        fmt::format("{}: its times count from the start of the profiler, and it does not say when that "
                    "was; profile with a PyTorch that was built with Kineto",
                    escaped(path_)));
  if (!last)
    throw Unusable(fmt::format(
        "{}: it has times after the year 2115; is it the file that the profiler exported?", escaped(path_)));
  first_ = *first;
  last_ = *last;
}

void TorchProfile::scan(const ProfileEvent& event) {
  if (event.phase == "M") {
    if (event.name == "process_name") names_[{event.pid, {}}] = string_member(event.args, "name");
    if (event.name == "thread_name") names_[{event.pid, event.tid}] = string_member(event.args, "name");
  }
  if (event.phase != "X" || !event.start) return;
  first_ = std::min(first_, *event.start);
  last_ = std::max(last_, *event.start + std::max<std::int64_t>(0, event.ns.value_or(0)));
  if (const auto pid = number_of(event.pid)) pids_.insert(*pid);
}

void TorchProfile::check_same_run(const std::string& trace, std::int64_t first, std::int64_t last,
                                  const Lanes& lanes) const {
  if (last < first_ || last_ < first)
    throw Unusable(
        fmt::format("{}: is of another run than {}: it was recorded from {} to {}, and the trace from {} "
                    "to {}; merge a profile of the same run",
                    escaped(path_), escaped(trace), time_text(first_), time_text(last_), time_text(first),
                    time_text(last)));
  const bool shared = std::any_of(pids_.begin(), pids_.end(), [&](auto pid) { return lanes.knows(pid); });
  if (!shared && !pids_.empty())
    throw Unusable(
        fmt::format("{}: is of another run than {}: process {} is not in the trace; merge a profile of "
                    "the same run",
                    escaped(path_), escaped(trace), *pids_.rbegin()));
}

void TorchProfile::each(const std::function<void(const ProfileEvent&)>& show) const {
  read_profile_events(path_, [&](const ProfileEvent& event) {
    if (!event.start) return show(event);
    ProfileEvent there = event;
    there.start = moved(*event.start, base_);
    show(there);
  });
}

std::string TorchProfile::name_of(const std::string& pid, const std::string& tid) const {
  const auto found = names_.find({pid, tid});
  return found == names_.end() ? std::string() : found->second;
}

std::string TorchProfile::lane_name(const ProfileEvent& event) const {
  const std::string name = name_of(event.pid, event.tid);
  return "PyTorch profiler: " + (name.empty() ? "thread " + text_of(event.tid) : name);
}

}  // namespace lotus::analyzer
