#include "answers/controlflow/measured.hpp"

#include <fmt/format.h>

#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::controlflow {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSecond = 1e9;
constexpr const char* kFirst = "the first trace";
constexpr const char* kOther = "the other trace";

std::string no_usual_call(const RegionAnswer& answer, const char* trace) {
  if (answer.incomplete == answer.recorded)
    return fmt::format(
        "no call of {} in {} is recorded to its end: the program was killed in it, or records are lost. "
        "Record again, and let some calls end (LOTUS_STEPS=auto records few of them)",
        escaped(answer.name), trace);
  if (answer.compilation.compiling_calls > 0 && !answer.usual)
    return fmt::format(
        "torch.compile compiled something in each whole call of {} in {}. Record more calls "
        "(LOTUS_STEPS=most), or call it before",
        escaped(answer.name), trace);
  if (answer.parts.untraced() <= 0)
    return fmt::format("what recording took is all of the time of {} in {}. Record it with LOTUS_STEPS=most",
                       escaped(answer.name), trace);
  return "";
}

void add_doubts(std::vector<std::string>& doubts, const RegionAnswer& answer, const char* trace) {
  const std::string name = escaped(answer.name);
  if (answer.incomplete > 0)
    doubts.push_back(fmt::format("In {} {} of {} recorded calls of {} are not whole, and left out.", trace,
                                 answer.incomplete, answer.recorded, name));
  if (answer.has_first)
    doubts.push_back(fmt::format(
        "In {} the first call of {} is among the {} that count: a first one usually takes longer.", trace,
        name, answer.used));
  if (!answer.cost_known)
    doubts.push_back(fmt::format("What recording took in {} is not known, and is part of its time.", trace));
  if (answer.waits())
    doubts.push_back(
        fmt::format("In {} the thread did not compute for {} of a call of {}: it waited, or had no core.",
                    trace, human_time(*answer.waited_ns), name));
}

}  // namespace

const RegionAnswer& twin_of(const RegionAnswer& region, const std::vector<RegionAnswer>& others) {
  for (const RegionAnswer& other : others)
    if (other.name == region.name && other.is_step == region.is_step) return other;
  return others.front();
}

std::string Measured::why_not() const {
  if (with.is_step != without.is_step) {
    const auto what = [](const RegionAnswer& answer) {
      return answer.is_step ? std::string("training steps") : "calls of " + escaped(answer.name);
    };
    return fmt::format(
        "the first trace has {}, the other one {}, which is not the same work. Record both with "
        "LOTUS_REGION, or both without",
        what(with), what(without));
  }
  std::string why = no_usual_call(with, kFirst);
  return why.empty() ? no_usual_call(without, kOther) : why;
}

std::vector<std::string> Measured::doubts() const {
  std::vector<std::string> doubts;
  if (with.name != without.name)
    doubts.push_back(
        fmt::format("The other trace has no region {}: its {} is taken, as the one that takes most time.",
                    escaped(with.name), escaped(without.name)));
  add_doubts(doubts, with, kFirst);
  add_doubts(doubts, without, kOther);
  return doubts;
}

std::string measured_text(const Measured& measured, const Terminal& terminal) {
  const double with = measured.with.parts.untraced(), without = measured.without.parts.untraced();
  std::string text;
  if (const std::string why = measured.why_not(); !why.empty())
    text = fmt::format("Not measured against the other trace: {}.", why);
  else if (without > with)
    text = fmt::format(
        "Measured against the other trace: {} takes {} a call there, more than the {} here. It is no twin "
        "without control flow, or was recorded on a busier machine.",
        escaped(measured.without.name), human_time(without), human_time(with));
  else
    text = fmt::format(
        "Measured against the other trace: {} of {} goes: a call takes {}, and {} of {} there. From the "
        "first trace alone {} was to be expected.",
        human_percent(100 * measured.overhead()), escaped(measured.with.name), human_time(with),
        human_time(without), escaped(measured.without.name), human_percent(100 * measured.with.overhead()));
  std::string told = terminal.styled(Style::bold, wrapped(text, terminal.width)) + "\n";
  for (const std::string& doubt : measured.doubts()) told += wrapped(doubt, terminal.width) + "\n";
  return told + "\n";
}

Json measured_json(const Measured& measured) {
  const std::string why = measured.why_not();
  const auto known = [&](double value) { return why.empty() ? Json(value) : Json(nullptr); };
  return {{"name", measured.without.name},
          {"calls", measured.without.recorded},
          {"with_s", known(measured.with.parts.untraced() / kSecond)},
          {"without_s", known(measured.without.parts.untraced() / kSecond)},
          {"overhead", known(measured.overhead())},
          {"estimated_overhead", known(measured.with.overhead())},
          {"why_not", why.empty() ? Json(nullptr) : Json(why)},
          {"doubts", measured.doubts()}};
}

}  // namespace lotus::analyzer::controlflow
