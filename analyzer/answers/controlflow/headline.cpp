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

std::string waiting(const RegionAnswer& answer) {
  return fmt::format(
      "In {} of {} a call of {} the thread did not compute: it waited (for {}a lock, a file, another thread "
      "or process, a GPU), or had no core. Of the whole, {} to {} is control flow and Python; what compiling "
      "would gain is not known.",
      human_time(*answer.waited_ns), human_time(answer.parts.untraced()), of_call(answer),
      answer.is_step ? "the batch, " : "", human_percent(100 * answer.overhead_low()),
      human_percent(100 * answer.overhead()));
}

}  // namespace

std::string headline(const RegionAnswer& answer) {
  const double control = answer.parts.python + answer.parts.control;
  const std::string share = fmt::format("ontrol flow and Python take {} of {}, {} of {} a call",
                                        human_percent(100 * answer.overhead()), of_call(answer),
                                        human_time(control), human_time(answer.parts.untraced()));
  if (answer.overhead() < kNothingToGain) return "Nothing to gain: c" + share + ".";
  if (answer.operators == 0)
    return fmt::format("No operator of PyTorch was seen in {}: all of its {} a call is Python.",
                       of_call(answer), human_time(answer.parts.untraced()));
  if (answer.waits()) return waiting(answer);
  return fmt::format("C{}. Compiled away, it would be {:.2f} to {:.2f} times as fast.", share,
                     answer.speedup_low(), answer.speedup_high());
}

}  // namespace lotus::analyzer::controlflow
