#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "answers/controlflow/compiled_views.hpp"
#include "answers/controlflow/views.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::controlflow {
namespace {

constexpr double kMuch = 0.02;  // of a call's time: what is less is no finding

std::string at(const ConstructAnswer& construct) { return escaped(memory::source_text(construct.source)); }

std::string times_text(double count) {
  return count == static_cast<double>(static_cast<std::uint64_t>(count))
             ? human_count(static_cast<std::uint64_t>(count))
             : fmt::format("{:.1f}", count);
}

double own_cost(const RegionAnswer& answer, const ConstructAnswer& construct) {
  return (construct.sums.own.python + construct.sums.own.control) / static_cast<double>(answer.used);
}

std::string share_text(const RegionAnswer& answer, double ns) {
  return human_percent(100 * ns / answer.parts.untraced());
}

std::string loop_text(const RegionAnswer& answer, const ConstructAnswer& loop) {
  const double python = loop.sums.own.python / static_cast<double>(answer.used);
  if (loop.sums.iterations == 0)
    return fmt::format("The loop at {} runs no operator of PyTorch: up to {} of Python a call ({}).",
                       at(loop), human_time(python), share_text(answer, python));
  const double iterations = answer.per_call(loop.sums.iterations);
  return fmt::format(
      "The loop at {}: {} a call, each with {} of Python beside {} of operators; {} of the call's time is "
      "its control flow.",
      at(loop), (loop.sums.exact ? "" : "about ") + with_noun(times_text(iterations), "iteration"),
      human_time(python / std::max(1.0, iterations)),
      human_time(loop.sums.within.native / static_cast<double>(answer.used) / std::max(1.0, iterations)),
      share_text(answer, own_cost(answer, loop)));
}

std::string loop_advice(const RegionAnswer& answer, const ConstructAnswer& loop) {
  if (loop.sums.iterations == 0) return " Take it out of the model, or do it on tensors.";
  return fmt::format(
      " {} out of it what does not need the iteration before, so that one operator does it for all.",
      answer.compilation.any() ? "Move"
                               : "Compile what it iterates (torch.compile, torch.jit.script), or move");
}

// As many calls as levels: each calls one.
bool is_linear(const ConstructAnswer& recursion, double calls) {
  return calls <= static_cast<double>(recursion.sums.depth);
}

std::string recursion_text(const RegionAnswer& answer, const ConstructAnswer& recursion) {
  const double calls = answer.per_call(recursion.sums.calls);
  return fmt::format("The recursion of {} at {}: {}, {} deep; {} of the call's time is its control flow.",
                     escaped(recursion.source.function), at(recursion), with_noun(times_text(calls), "call"),
                     recursion.sums.depth, share_text(answer, own_cost(answer, recursion)));
}

std::string recursion_advice(const RegionAnswer& answer, const ConstructAnswer& recursion) {
  return is_linear(recursion, answer.per_call(recursion.sums.calls))
             ? " Each call makes one at most: write it as a loop, and compile that (torch.compile, "
               "torch.jit.script)."
             : " Go through the tree level by level, with one operator for all nodes of a level, and read "
               "its structure once (tolist) before.";
}

std::string skip_text(const ConstructAnswer& branch) {
  const ConstructAnswer::Skip skip = branch.skip();
  if (!skip.known) return "";
  const std::string decides = skip.decision_ns > 0 ? human_time(skip.decision_ns) : "nothing";
  const std::string saves = human_time(skip.costly_ns - skip.cheap_ns);
  if (skip.break_even <= 0)
    return fmt::format("The branch at {} never pays: to decide takes {}, and to skip saves {}.", at(branch),
                       decides, saves);
  const std::string most = human_percent(100 * skip.break_even),
                    executed = human_percent(100 * skip.executed);
  if (skip.benefit_ns < 0)
    return fmt::format(
        "The branch at {} costs more than it saves: to decide takes {}, to skip saves {}. It pays if at most "
        "{} of its visits take the longer side; {} do.",
        at(branch), decides, saves, most, executed);
  return fmt::format(
      "The branch at {} pays as long as at most {} of its visits take the longer side; {} do. To decide "
      "takes {}, to skip saves {}.",
      at(branch), most, executed, decides, saves);
}

// Tests that read a tensor, of one line.
struct Tests {
  std::vector<const ConstructAnswer*> all;
  double ns = 0;  // of a call
  bool told = false;

  // What it takes is part of the own time of this loop or recursion.
  bool is_in(const ConstructKey& key) const {
    return std::all_of(all.begin(), all.end(), [&](const ConstructAnswer* one) {
      return one->sums.tested_in.size() == 1 && one->sums.tested_in.contains(key);
    });
  }
};

std::string tests_text(const RegionAnswer& answer, const Tests& tests) {
  const ConstructAnswer& first = *tests.all.front();
  const std::string share = share_text(answer, tests.ns);
  if (tests.all.size() > 1)
    return fmt::format("The tests at {} read tensors: {} a call, {} of its time.", at(first),
                       human_time(tests.ns), share);
  if (first.kind == ConstructKind::loop)
    return fmt::format("The test of the loop at {} reads a tensor: {} a call, {} of its time.", at(first),
                       human_time(tests.ns), share);
  const double each = tests.ns * static_cast<double>(answer.used) / static_cast<double>(first.sums.visits());
  return fmt::format("The test at {} reads a tensor: {} a time, {} of the call's time.", at(first),
                     human_time(each), share);
}

std::string tests_advice(const Tests& tests) {
  if (tests.all.size() == 1 && tests.all.front()->kind == ConstructKind::loop)
    return " Test every few iterations, if more of them do no harm, or compile the loop as a whole "
           "(torch.jit.script).";
  const bool early = std::all_of(tests.all.begin(), tests.all.end(), [](const ConstructAnswer* one) {
    return one->sums.early_tests > 0 && one->sums.late_tests == 0;
  });
  return early ? " Decide once for all (tolist before the loop), or on the tensor (torch.where)."
               : " Decide on the tensor (torch.where).";
}

class Findings {
 public:
  explicit Findings(const RegionAnswer& answer) : answer_(answer) {
    for (const ConstructAnswer& construct : answer.constructs) add_test(construct);
  }

  std::vector<std::string> all() {
    for (std::string& text : compiled_findings(answer_.compilation, answer_.parts)) add(std::move(text));
    for (const ConstructAnswer& construct : answer_.constructs) {
      if (construct.kind != ConstructKind::branch) {
        add_repeated(construct);
        continue;
      }
      for (Tests& tests : tests_)
        if (std::find(tests.all.begin(), tests.all.end(), &construct) != tests.all.end()) add_tests(tests);
      add(skip_text(construct));
    }
    add_outside();
    return std::move(findings_);
  }

 private:
  void add(std::string text) {
    if (!text.empty()) findings_.push_back(std::move(text));
  }
  // The same advice is given once.
  void add(const std::string& text, const std::string& advice) {
    add(text + (advised_.insert(advice).second ? advice : ""));
  }

  void add_test(const ConstructAnswer& construct) {
    if (!construct.sums.data_dependent || construct.sums.test.untraced() <= 0) return;
    const memory::SourceLine& line = construct.source;
    auto same = std::find_if(tests_.begin(), tests_.end(), [&](const Tests& tests) {
      const memory::SourceLine& other = tests.all.front()->source;
      return other.file == line.file && other.line == line.line;
    });
    if (same == tests_.end()) same = tests_.emplace(tests_.end());
    same->all.push_back(&construct);
    same->ns += construct.sums.test.untraced() / static_cast<double>(answer_.used);
  }

  void add_tests(Tests& tests) {
    if (!tests.told && tests.ns >= kMuch * answer_.parts.untraced())
      add(tests_text(answer_, tests), tests_advice(tests));
    tests.told = true;
  }

  // A loop or recursion. Where most of what it costs are tests in it, these are the cause: they come first,
  // and it only if much is left.
  void add_repeated(const ConstructAnswer& construct) {
    const double cost = own_cost(answer_, construct), much = kMuch * answer_.parts.untraced();
    double tests_ns = 0;
    for (const Tests& tests : tests_)
      if (tests.is_in(construct.key)) tests_ns += tests.ns;
    const bool is_theirs = tests_ns > cost / 2;
    for (Tests& tests : tests_)
      if (is_theirs && tests.is_in(construct.key)) add_tests(tests);
    if (cost >= much && (!is_theirs || cost - tests_ns >= much))
      construct.kind == ConstructKind::loop
          ? add(loop_text(answer_, construct), loop_advice(answer_, construct))
          : add(recursion_text(answer_, construct), recursion_advice(answer_, construct));
    for (Tests& tests : tests_)
      if (construct.sums.data_dependent && tests.is_in(construct.key) && tests.all.front() == &construct)
        add_tests(tests);
  }

  void add_outside() {
    // What is left outside of constructs is PyTorch's way into its graphs.
    if (answer_.compilation.any()) return;
    const double outside = answer_.outside.python + answer_.outside.control;
    if (!findings_.empty() && outside <= (answer_.parts.python + answer_.parts.control) / 2) return;
    if (answer_.is_step)
      return add(fmt::format(
          "{} of the step's time is Python outside of loops and recursions of the model: getting the batch, "
          "calls of modules and operators one after the other, what autograd and the optimizer do between "
          "operators. torch.compile of the model takes away what is of its calls; with "
          "LOTUS_REGION=Model.forward it is known how much that is.",
          share_text(answer_, outside)));
    add(
        fmt::format("{} of the call's time is Python outside of all loops and recursions: calls of modules "
                    "and operators one after the other. torch.compile or torch.jit.trace of the whole takes "
                    "it away.",
                    share_text(answer_, outside)));
  }

  const RegionAnswer& answer_;
  std::vector<Tests> tests_;
  std::vector<std::string> findings_;
  std::set<std::string> advised_;
};

std::string compiled_gain_text(const CompiledAnswer& compilation) {
  const std::string already = "torch.compile has compiled part of it already, or all";
  if (compilation.breaks.empty())
    return already + ", with no graph break: what its way into the graphs could gain is not known.";
  return already + ": what can be gained are its graph breaks.";
}

}  // namespace

std::string gain_text(const RegionAnswer& answer) {
  if (answer.overhead() < kNothingToGain) return "There is nothing to gain.";
  if (answer.operators == 0) return "No operator of PyTorch was seen.";
  if (answer.waits())
    return fmt::format(
        "Of it, {} was no computing: the thread waited, or had no core. What compiling would gain is not "
        "known.",
        human_time(*answer.waited_ns));
  if (answer.is_hidden()) return "Recording took most of the call: what compiling would gain is not known.";
  if (!answer.gain_is_known()) return compiled_gain_text(answer.compilation);
  const std::string low = fmt::format("{:.2f}", answer.speedup_low());
  const std::string high = fmt::format("{:.2f}", answer.speedup_high());
  return fmt::format("Compiled away, it would be {} times as fast.", low == high ? low : low + " to " + high);
}

std::vector<std::string> control_flow_findings(const RegionAnswer& answer) {
  if (answer.overhead() < kNothingToGain || answer.waits() || answer.is_hidden() || answer.operators == 0)
    return {};
  return Findings(answer).all();
}

}  // namespace lotus::analyzer::controlflow
