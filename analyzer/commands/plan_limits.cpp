#include "commands/plan_limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>

#include "answers/plan/views.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

constexpr const char* kUsualRatios[] = {"8:1", "4:1", "1:1"};  // AutoTM's
constexpr std::size_t kSweep = 12;  // sizes for figures, from the floor to the peak

struct Suffix {
  std::string_view name;
  double factor;
};

constexpr Suffix kBytes[] = {{"", 1},         {"B", 1},        {"kB", 1e3},     {"KB", 1e3},
                             {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"KiB", 0x1p10},
                             {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"K", 0x1p10},
                             {"M", 0x1p20},   {"G", 0x1p30},   {"T", 0x1p40}};
constexpr Suffix kRates[] = {{"", 1}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {"MB", 1e6}, {"GB", 1e9}};
constexpr Suffix kTimes[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}};

// A number with one of these suffixes; nullopt: it is none.
std::optional<double> amount(std::string_view text, std::span<const Suffix> suffixes) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view suffix(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  const auto hit =
      std::find_if(suffixes.begin(), suffixes.end(), [&](const Suffix& each) { return each.name == suffix; });
  if (error != std::errc() || hit == suffixes.end() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value * hit->factor;
}

// Slow to fast: "8:1", of which fast memory is 1/9 of the peak (AutoTM's upper_bound / (r + 1)).
std::optional<Limit> limit_of_ratio(const std::string& text, std::uint64_t peak) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto slow = amount(text.substr(0, colon), std::span(kBytes).first(1));
  const auto fast = amount(text.substr(colon + 1), std::span(kBytes).first(1));
  if (!slow || !fast || !(*slow + *fast > 0))
    throw WrongUsage(fmt::format("{}: give the ratio of slow to fast memory, as 8:1", escaped(text)));
  return Limit{static_cast<std::uint64_t>(static_cast<double>(peak) * (*fast / (*slow + *fast))), text};
}

Limit limit_of(const std::string& text, std::uint64_t peak) {
  if (const auto ratio = limit_of_ratio(text, peak)) return *ratio;
  const auto bytes = amount(text, kBytes);
  if (!bytes || *bytes > 0x1p53)
    throw WrongUsage(
        fmt::format("--fast {}: give bytes, as 512MiB, or slow to fast memory, as 8:1", escaped(text)));
  return {static_cast<std::uint64_t>(*bytes), ""};
}

std::vector<Limit> asked_limits(const PlanOptions& options, std::uint64_t peak) {
  std::vector<Limit> limits;
  for (const std::string& text : options.fast) limits.push_back(limit_of(text, peak));
  for (const std::string& text : options.ratios) {
    const auto limit = limit_of_ratio(text, peak);
    if (!limit) throw WrongUsage(fmt::format("--ratio {}: give slow to fast memory, as 8:1", escaped(text)));
    limits.push_back(*limit);
  }
  return limits;
}

std::string limit_name(const Limit& limit) {
  const std::string bytes = human_bytes(static_cast<double>(limit.bytes));
  return limit.ratio.empty() ? bytes : fmt::format("{} ({})", escaped(limit.ratio), bytes);
}

// The least fast memory that is accepted, and what for.
struct Least {
  Floor floor;
  bool offload = false;  // for a plan of this mode
  bool below = false;    // operators may work in slow memory whatever moves
};

Least least_for(const Planned& planned, const std::vector<Mode>& modes, bool below_floor) {
  const Least any{below_floor ? least_of(planned) : planned.floor, false, below_floor};
  if (std::find(modes.begin(), modes.end(), Mode::offload) == modes.end()) return any;
  const Least offload{least_of_offload(planned), true, false};
  return offload.floor.bytes > any.floor.bytes ? offload : any;
}

// Sizes for which something is moved.
std::string sizes_between(std::uint64_t floor, std::uint64_t peak) {
  constexpr std::uint64_t kMiB = 1 << 20, kParts = 4;
  std::vector<std::string> sizes;
  for (std::uint64_t i = 0; i < kParts && peak > floor; ++i) {
    const std::uint64_t bytes = (floor + (peak - floor) * i / kParts + kMiB - 1) / kMiB;
    if (bytes * kMiB < peak && (sizes.empty() || sizes.back() != fmt::format("{}MiB", bytes)))
      sizes.push_back(fmt::format("{}MiB", bytes));
  }
  const std::string peak_text = human_bytes(static_cast<double>(peak));
  if (sizes.empty())
    return fmt::format("; the peak is {}, so that this mode has next to nothing to move", peak_text);
  return fmt::format("; sizes up to the peak, {}, move something: --fast {}", peak_text,
                     fmt::join(sizes, " or "));
}

std::string too_little(const Planned& planned, const Input& input, const Limit& limit, const Least& least) {
  const Floor& floor = least.floor;
  const std::string who =
      floor.op ? fmt::format("operator {}, {}", *floor.op, operator_name(planned.step, input, *floor.op))
               : "what is kept in fast memory";
  const char* const needs = least.offload ? "is where what the mode offload does not move takes" : "needs";
  const std::string remedy =
      least.offload ? sizes_between(floor.bytes, planned.peak)
      : least.below ? std::string()
                    : ", or --below-floor for plans in which operators work in slow memory whatever moves";
  return fmt::format("{} of fast memory is below the floor: {} {} {} bytes ({}) there; give at least that{}",
                     limit_name(limit), who, needs, floor.bytes,
                     human_bytes(static_cast<double>(floor.bytes)), remedy);
}

// Those of AutoTM that are not below the floor, else the floor; and for figures some more.
std::vector<Limit> usual_limits(const Planned& planned, const Input& input, const Least& least, bool figures,
                                std::vector<std::string>& notes) {
  std::vector<Limit> limits;
  for (const char* ratio : kUsualRatios) {
    const Limit limit = *limit_of_ratio(ratio, planned.peak);
    if (limit.bytes >= least.floor.bytes)
      limits.push_back(limit);
    else
      notes.push_back("Left out: " + too_little(planned, input, limit, least) + ".");
  }
  if (limits.empty()) {
    limits.push_back({least.floor.bytes, ""});
    notes = {fmt::format(
        "None of the usual sizes of fast memory can be planned for, so it is planned for the least "
        "possible one: {}.",
        too_little(planned, input, *limit_of_ratio(kUsualRatios[2], planned.peak), least))};
  }
  if (figures && planned.peak > least.floor.bytes)
    for (std::size_t i = 0; i <= kSweep; ++i)
      limits.push_back({least.floor.bytes + (planned.peak - least.floor.bytes) * i / kSweep, ""});
  return limits;
}

}  // namespace

double bandwidth(const char* option, const std::string& text) {
  const auto value = amount(text, kRates);
  if (!value || !(*value > 0))
    throw WrongUsage(fmt::format("{} {}: give bytes/s, as 29e9 or 29GB/s", option, escaped(text)));
  return *value;
}

double latency(const std::string& text) {
  const auto value = amount(text, kTimes);
  if (!value) throw WrongUsage(fmt::format("--latency {}: give a time, as 300ns", escaped(text)));
  return *value;
}

std::vector<Limit> limits_for(const Planned& planned, const Input& input, const PlanOptions& options,
                              const std::vector<Mode>& modes, std::vector<std::string>& notes) {
  std::vector<Limit> limits = asked_limits(options, planned.peak);
  const Least least = least_for(planned, modes, options.below_floor);
  if (limits.empty()) return usual_limits(planned, input, least, !options.figures.empty(), notes);
  for (const Limit& limit : limits)
    if (limit.bytes < least.floor.bytes) throw Unusable(too_little(planned, input, limit, least));
  return limits;
}

}  // namespace lotus::analyzer::memory_plan
