// What `control-flow` says first of a region.
#include <fmt/format.h>

#include "answers/controlflow/views.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::controlflow {
namespace {

std::string of_call(const RegionAnswer& answer) {
  return answer.is_step ? "a training step" : escaped(answer.name);
}

const char* unit(const RegionAnswer& answer) { return answer.is_step ? "step" : "call"; }

std::string waiting(const RegionAnswer& answer) {
  return fmt::format(
      "In {} of {} of {} the thread did not compute: it waited (for {}a lock, a file, another thread or "
      "process, a GPU), or had no core. Of the whole, {} to {} is control flow and Python; what compiling "
      "would gain is not known.",
      human_time(*answer.waited_ns), human_time(answer.parts.untraced()),
      answer.is_step ? "a training step" : "a call of " + escaped(answer.name),
      answer.is_step ? "the batch, " : "", human_percent(100 * answer.overhead_low()),
      human_percent(100 * answer.overhead()));
}

}  // namespace

std::string headline(const RegionAnswer& answer) {
  const double control = answer.parts.python + answer.parts.control;
  const std::string share = fmt::format(
      "ontrol flow and Python take {} of {}, {} of {} a {}", human_percent(100 * answer.overhead()),
      of_call(answer), human_time(control), human_time(answer.parts.untraced()), unit(answer));
  if (answer.is_hidden())
    return fmt::format(
        "Recording took {} of the {} of {}: what its parts take without it is not known. LOTUS_STEPS=most, "
        "and more calls, tell it, as some are only timed then.",
        human_time(answer.parts.tracing), human_time(answer.parts.all()), of_call(answer));
  if (answer.overhead() < kNothingToGain) return "Nothing to gain: c" + share + ".";
  if (answer.operators == 0)
    return fmt::format("No operator of PyTorch was seen in {}: all of its {} a {} is Python.",
                       of_call(answer), human_time(answer.parts.untraced()), unit(answer));
  if (answer.waits()) return waiting(answer);
  return fmt::format("C{}. {}", share, gain_text(answer));
}

}  // namespace lotus::analyzer::controlflow
