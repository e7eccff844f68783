#include <fmt/format.h>

#include <algorithm>

#include "answers/memory/views.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::memory {
namespace {

std::string bytes_text(std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); }

std::string operator_text(const RecordedStep& step, std::size_t index) {
  if (index == RecordedStep::kNone) return "between two operators";
  const Operator& at = step.step.operators[index];
  const SourceLine forward = source_of(*step.process, at.forward);
  const std::string part = forward.file.empty() ? name_of(at.phase) : "backward of " + source_text(forward);
  return fmt::format("in {} ({}) at {}", escaped(at.name), escaped(part),
                     escaped(source_text(source_of(*step.process, at.place))));
}

std::string head(const std::vector<RecordedStep>& steps, const RecordedStep& step) {
  const auto whole =
      std::count_if(steps.begin(), steps.end(), [](const RecordedStep& s) { return s.is_whole(); });
  std::string out = fmt::format(
      "Step {} of process {}: {} in {} operators; {} of {} recorded steps are whole.", step.step.number,
      step.process->pid, human_time(step.seconds * kNsPerS), step.step.operators.size(), whole, steps.size());
  if (!step.ended)
    out += " The program was ended inside of it, or the trace: this is what was in use by then.";
  if (step.incomplete) out += " Records of it are missing: what follows is a lower bound.";
  return out;
}

std::string peak_text(const MemoryAnswer& answer) {
  const RecordedStep& step = *answer.step;
  return fmt::format("Peak: {} of PyTorch's CPU memory, {} ({} after the step began).",
                     bytes_text(step.peak_bytes), operator_text(step, step.peak_operator),
                     human_time(step.peak_s * kNsPerS));
}

// What the peak consists of, one row for each kind.
Table roles_table(const MemoryAnswer& answer) {
  Table table({{.title = "at the peak", .right = false}, {.title = "bytes"}, {.title = "share"}});
  // What is beside the allocator is among the older tensors, and not in the peak.
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  for (const auto& [role, bytes] : answer.by_role) rows.emplace_back(bytes, name_of(role));
  if (answer.workspace_at_peak > 0)
    rows.emplace_back(answer.workspace_at_peak, "the operator's own workspace");
  std::uint64_t sum = 0;
  for (const auto& row : rows) sum += row.first;
  const auto all = static_cast<double>(
      std::max({std::uint64_t{1}, sum, answer.step->peak_bytes + answer.beside_allocator}));
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [bytes, name] : rows)
    table.add({name, bytes_text(bytes), human_percent(100 * static_cast<double>(bytes) / all)});
  return table;
}

std::string made_by(const Group& group) {
  if (!group.op.empty()) return escaped(group.op);
  return group.older ? "(made before)" : "(outside of operators)";
}

std::string line_of(const Group& group) { return group.source.file.empty() ? "" : escaped(made_at(group)); }

// Forms of tensors are not known in every trace.
bool has_forms(const MemoryAnswer& answer) {
  return std::any_of(answer.alive_at_peak.begin(), answer.alive_at_peak.end(),
                     [](const Group& group) { return !group.form.empty(); });
}

Table alive_table(const MemoryAnswer& answer, std::size_t rows) {
  std::vector<Column> columns{{.title = "bytes"},
                              {.title = "storages"},
                              {.title = "alive at the peak", .right = false},
                              {.title = "made by", .right = false, .flexible = true, .narrowest = 20},
                              {.title = "at", .right = false}};
  const bool forms = has_forms(answer);
  if (forms) columns.push_back({.title = "largest", .right = false, .importance = 1});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < answer.alive_at_peak.size() && i < rows; ++i) {
    const Group& group = answer.alive_at_peak[i];
    std::vector<std::string> cells{bytes_text(group.bytes),
                                   group.storages == 0 ? "–" : human_count(group.storages),
                                   name_of(group.role), made_by(group), line_of(group)};
    if (forms) cells.push_back(escaped(group.form));
    table.add(std::move(cells));
  }
  return table;
}

Table held_table(const MemoryAnswer& answer, std::size_t rows) {
  Table table({{.title = "held longer than used", .right = false, .flexible = true, .narrowest = 20},
               {.title = "at", .right = false},
               {.title = "bytes"},
               {.title = "storages", .importance = 1},
               {.title = "on average"}});
  for (std::size_t i = 0; i < answer.held_longer.size() && i < rows; ++i) {
    const Group& group = answer.held_longer[i];
    table.add({made_by(group), line_of(group), bytes_text(group.bytes), human_count(group.storages),
               "for " + human_time(kNsPerS * group.byte_seconds / static_cast<double>(group.bytes))});
  }
  return table;
}

std::string floor_text(const MemoryAnswer& answer) {
  if (!answer.floor.op) return "";
  return fmt::format("No plan needs less fast memory than {}: that is what one operator uses, {}.",
                     bytes_text(answer.floor.bytes), operator_text(*answer.step, *answer.floor.op));
}

}  // namespace

std::string memory_text(const std::vector<RecordedStep>& steps, const MemoryAnswer& answer, std::size_t rows,
                        const Terminal& terminal) {
  std::string out;
  const auto paragraph = [&](const std::string& text, Style style = Style::plain) {
    if (!text.empty()) out += terminal.styled(style, wrapped(text, terminal.width)) + "\n";
  };
  paragraph(peak_text(answer), Style::bold);
  for (const std::string& finding : memory_findings(steps, answer)) paragraph(finding);
  paragraph(growth_note(answer));
  paragraph(head(steps, *answer.step), Style::dim);
  if (!answer.step->process->no_steps.empty())
    paragraph("Which storages operators use is not known: " + escaped(answer.step->process->no_steps) + ".");
  if (!answer.step->live_known)
    paragraph(
        "How much was in use before the step is not known: this PyTorch has an allocator of its own. The "
        "peak is that "
        "of what the step uses.");
  if (answer.beside_allocator > 0)
    paragraph(fmt::format(
                  "Of the older tensors, {} or more are not from PyTorch's allocator (shared memory, NumPy) "
                  "and not part of the peak.",
                  bytes_text(answer.beside_allocator)),
              Style::dim);
  out += "\n" + roles_table(answer).text(terminal) + "\n" + alive_table(answer, rows).text(terminal);
  const Table held = held_table(answer, rows);
  if (!held.empty()) out += "\n" + held.text(terminal);
  out += "\n";
  paragraph(floor_text(answer));
  return out;
}

}  // namespace lotus::analyzer::memory
