#include <fmt/format.h>

#include <algorithm>

#include "answers/controlflow/compiled_views.hpp"
#include "answers/controlflow/views.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::controlflow {
namespace {

constexpr double kMuchRecording = 0.1;  // of a call's time
constexpr std::size_t kBar = 24;        // columns

class Text {
 public:
  Text(std::size_t rows, const Terminal& terminal) : rows_(rows), terminal_(terminal) {}

  void region(const RegionAnswer& answer) {
    paragraph(headline(answer), Style::bold);
    const auto findings = control_flow_findings(answer);
    for (std::size_t i = 0; i < findings.size() && i < kFindings; ++i) paragraph(findings[i]);
    about(answer);
    for (const Table& table : {parts(answer), graph_break_table(answer.compilation, rows_),
                               compiled_function_table(answer.compilation, rows_), loops(answer),
                               branches(answer), recursions(answer), ladder(answer)})
      if (!table.empty()) out_ += "\n" + table.text(terminal_);
    paragraph(marks(answer), Style::dim);
  }

  std::string take() { return std::move(out_); }
  void line() { out_ += "\n"; }

 private:
  static constexpr std::size_t kFindings = 4;

  void paragraph(const std::string& text, Style style = Style::plain) {
    if (!text.empty()) out_ += terminal_.styled(style, wrapped(text, terminal_.width)) + "\n";
  }

  static const char* unit(const RegionAnswer& answer) { return answer.is_step ? "step" : "call"; }

  void about(const RegionAnswer& answer) {
    std::string text = fmt::format(
        "{} of process {}: mean of {} of {} recorded {}s, with {} and {} of Python "
        "functions each.",
        answer.is_step ? "Training steps" : escaped(answer.name), answer.process->pid, answer.used,
        answer.recorded, unit(answer), with_noun(fmt::format("{:.0f}", answer.operators), "operator"),
        with_noun(fmt::format("{:.0f}", answer.python_calls), "call"));
    if (answer.incomplete > 0) text += fmt::format(" Not whole: {}.", answer.incomplete);
    text += " Host side only: of work on a GPU, its launches, and what a test waits for it.";
    if (answer.is_step)
      text +=
          " Python holds the wait for the batch, and what autograd and the optimizer do between operators.";
    if (!answer.around.empty()) text += around(answer.around);
    paragraph(text, Style::dim);
    if (!answer.calls_seen)
      paragraph(
          "Calls of Python functions were not recorded, so loops, branches and recursions are not known: "
          "record with LOTUS_CONTROL_FLOW=1, or LOTUS_REGION=qualified.name for one function; see "
          "docs/control-flow.md.");
    else if (answer.lower_bound)
      paragraph("Some calls of Python functions, or records, are missing: counts are lower bounds.");
    if (answer.cost_known && answer.timed == 0 &&
        answer.parts.tracing > kMuchRecording * answer.parts.untraced())
      paragraph(
          fmt::format("No {0} was only timed, so what recording took is the recorder's estimate. If it took "
                      "more, times are too "
                      "long; LOTUS_STEPS=most also times {0}s that are not recorded, and tells.",
                      unit(answer)));
    if (!answer.cost_known) paragraph("What recording took is not known in this trace: it counts as Python.");
    if (answer.calls_seen && !answer.codes_known)
      paragraph(
          "The bytecode of some functions is not known (CPython 3.9 to 3.15 is): their loops and branches "
          "are missing.");
    if (answer.compilation.any())
      paragraph(compiled_summary(answer.compilation, answer.parts));
    else if (answer.compiled)
      paragraph(
          "Not seen: what torch.compile compiled. Its graphs count as operators and Python as far as they "
          "call any.");
  }

  static std::string around(const std::vector<memory::SourceLine>& loops) {
    std::string lines;
    for (std::size_t i = 0; i < loops.size() && i < kFindings; ++i)
      lines += (i > 0 ? ", " : "") + escaped(memory::source_text(loops[i]));
    return fmt::format(" Loops around it, over batches and epochs, are none of it: {}.", lines);
  }

  static Table parts(const RegionAnswer& answer) {
    Table table({{.title = answer.is_step ? "a step" : "a call", .right = false},
                 {.title = "time"},
                 {.title = "share"},
                 {.title = "", .right = false}});
    const double all = answer.parts.untraced();
    const auto row = [&](const char* name, double ns) {
      const double percent = all > 0 ? 100 * ns / all : 0;
      table.add({name, human_time(ns), human_percent(percent), bar(percent, kBar)});
    };
    row("operators that do the model's work", answer.parts.native);
    row("operators that only serve tests", answer.parts.control);
    row("Python", answer.parts.python);
    if (answer.parts.tracing > 0)
      table.add({"recording, left out above", human_time(answer.parts.tracing), "", ""});
    return table;
  }

  static std::string where(const ConstructAnswer& construct) {
    return escaped(memory::source_text(construct.source));
  }
  static std::string mean(const RegionAnswer& answer, std::uint64_t count) {
    if (count % answer.used == 0) return human_count(count / answer.used);
    const double each = answer.per_call(count);
    return fmt::format("{:.{}f}", each, each < 1 ? 2 : 1);
  }
  static std::string marked(const Construct& sums, const std::string& count) {
    return (!sums.exact ? "~" : sums.lower_bound ? "≥ " : "") + count;
  }
  // A share, or between which it lies.
  static std::string taken(const Construct& branch) {
    if (!branch.exact || branch.visits() == 0) return "–";
    const auto percent = [&](std::uint64_t count) {
      return human_percent(100 * static_cast<double>(count) / static_cast<double>(branch.visits()));
    };
    return branch.unknown == 0 ? percent(branch.taken)
                               : percent(branch.taken) + " to " + percent(branch.taken + branch.unknown);
  }
  // What the marks of the tables mean.
  static std::string marks(const RegionAnswer& answer) {
    const auto any = [&](auto is) {
      return std::any_of(answer.constructs.begin(), answer.constructs.end(),
                         [&](const ConstructAnswer& construct) { return is(construct.sums); });
    };
    std::string text;
    if (any([](const Construct& sums) { return !sums.exact; }))
      text = "~: what was seen fits several counts: it may be more or fewer.";
    if (any([](const Construct& sums) { return sums.exact && sums.lower_bound; }))
      text += std::string(text.empty() ? "" : " ") + "≥: it may be more, as not all was seen.";
    return text;
  }
  static std::string share(const RegionAnswer& answer, const Parts& parts) {
    return human_percent(100 * (parts.python + parts.control) / static_cast<double>(answer.used) /
                         answer.parts.untraced());
  }

  template <class Row>
  void each(const RegionAnswer& answer, ConstructKind kind, Row row) const {
    std::size_t count = 0;
    for (const ConstructAnswer& construct : answer.constructs)
      if (construct.kind == kind && count++ < rows_) row(construct);
  }

  Table loops(const RegionAnswer& answer) const {
    Table table({{.title = "loops", .right = false},
                 {.title = "in", .right = false, .flexible = true, .narrowest = 12},
                 {.title = "entries", .importance = 2},
                 {.title = "iterations"},
                 {.title = "operators", .importance = 3},
                 {.title = "operators' time", .importance = 1},
                 {.title = "tests'", .importance = 4},
                 {.title = "Python"},
                 {.title = "own control flow"}});
    each(answer, ConstructKind::loop, [&](const ConstructAnswer& loop) {
      const Construct& sums = loop.sums;
      const auto calls = static_cast<double>(answer.used);
      const std::string iterations =
          sums.iterations == 0 ? "not seen" : marked(sums, mean(answer, sums.iterations));
      table.add({where(loop) + (sums.data_dependent ? " (by data)" : ""), escaped(loop.source.function),
                 (sums.exact ? "" : "~") + mean(answer, sums.entries), iterations,
                 mean(answer, sums.operators), human_time(sums.within.native / calls),
                 human_time(sums.within.control / calls), human_time(sums.within.python / calls),
                 share(answer, sums.own)});
    });
    return table;
  }

  Table branches(const RegionAnswer& answer) const {
    Table table({{.title = "branches", .right = false},
                 {.title = "in", .right = false, .flexible = true, .narrowest = 12},
                 {.title = "by", .right = false, .importance = 3},
                 {.title = "visits"},
                 {.title = "taken"},
                 {.title = "test each"},
                 {.title = "taken, each", .importance = 2},
                 {.title = "else, each", .importance = 2},
                 {.title = "pays up to", .importance = 1}});
    each(answer, ConstructKind::branch, [&](const ConstructAnswer& branch) {
      const Construct& sums = branch.sums;
      const ConstructAnswer::Skip skip = branch.skip();
      const auto each_time = [](const Parts& parts, std::uint64_t count) {
        return count == 0 ? std::string("–") : human_time(parts.untraced() / static_cast<double>(count));
      };
      table.add({where(branch), escaped(branch.source.function), sums.data_dependent ? "data" : "Python",
                 marked(sums, mean(answer, sums.visits())), taken(sums),
                 sums.data_dependent ? each_time(sums.test, sums.visits()) : "–",
                 sums.joins ? each_time(sums.taken_time, sums.taken) : "–",
                 sums.joins ? each_time(sums.not_taken_time, sums.not_taken) : "–",
                 !skip.known            ? "–"
                 : skip.break_even <= 0 ? "never"
                                        : human_percent(100 * skip.break_even)});
    });
    return table;
  }

  Table recursions(const RegionAnswer& answer) const {
    Table table({{.title = "recursions", .right = false},
                 {.title = "of", .right = false, .flexible = true, .narrowest = 12},
                 {.title = "calls"},
                 {.title = "depth"},
                 {.title = "operators' time", .importance = 1},
                 {.title = "tests'", .importance = 2},
                 {.title = "Python"},
                 {.title = "own control flow"}});
    each(answer, ConstructKind::recursion, [&](const ConstructAnswer& recursion) {
      const Construct& sums = recursion.sums;
      const auto calls = static_cast<double>(answer.used);
      table.add({where(recursion), escaped(recursion.source.function), marked(sums, mean(answer, sums.calls)),
                 human_count(sums.depth), human_time(sums.within.native / calls),
                 human_time(sums.within.control / calls), human_time(sums.within.python / calls),
                 share(answer, sums.own)});
    });
    return table;
  }

  static Table ladder(const RegionAnswer& answer) {
    Table table({{.title = "what would be left, predicted", .right = false},
                 {.title = "time"},
                 {.title = "", .right = false}});
    if (answer.overhead() < kNothingToGain || !answer.gain_is_known()) return table;
    const Ladder ladder = answer.ladder();
    const auto row = [&](const char* name, double ns) {
      table.add({name, human_time(ns), bar(100 * ns / ladder.as_is, kBar)});
    };
    row("as it is", ladder.as_is);
    if (answer.parts.control > 0) row("without operators that only serve tests", ladder.without_control);
    row("in Python, without loops and calls", ladder.straight_line);
    row("compiled", ladder.compiled_high);
    row("operators alone", ladder.operators);
    return table;
  }

  std::size_t rows_;
  const Terminal& terminal_;
  std::string out_;
};

}  // namespace

std::string control_flow_text(const std::vector<RegionAnswer>& answers, std::size_t rows,
                              const Terminal& terminal) {
  if (answers.empty())
    return "No region and no training step is recorded with its operators: record with "
           "LOTUS_REGION=qualified.name, as LOTUS_REGION=Model.forward, see docs/control-flow.md.\n";
  Text text(rows, terminal);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i > 0) text.line();
    text.region(answers[i]);
  }
  return text.take();
}

}  // namespace lotus::analyzer::controlflow
