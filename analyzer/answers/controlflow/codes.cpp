#include "answers/controlflow/codes.hpp"

#include <charconv>
#include <utility>

#include "answers/controlflow/visits.hpp"
#include "answers/stacks/library_code.hpp"

namespace lotus::analyzer::controlflow {
namespace {

bool is_installed(const std::string& file) {
  return file.find("/site-packages/") != std::string::npos ||
         file.find("/dist-packages/") != std::string::npos;
}

bool is_machinery_file(const std::string& file) {
  if (file.find("-packages/torch/") != std::string::npos) return true;
  return is_library_code(file) && !is_installed(file);
}

// What is called only if something else has failed.
bool is_seldom(const Process& process, const Region& region, const Event& event) {
  if (!event.is_call) return false;
  const auto code = process.python_codes.find(region.activations[event.index].code);
  return code != process.python_codes.end() && code->second.name.ends_with("__missing__");
}

}  // namespace

unsigned minor_of(const Process& process) {
  constexpr std::string_view kMajor = "3.";
  if (!process.python.starts_with(kMajor)) return 0;
  unsigned minor = 0;
  const char* text = process.python.data();
  std::from_chars(text + kMajor.size(), text + process.python.size(), minor);
  return minor;
}

Codes::Codes(const Process& process, const std::vector<const Region*>& regions) {
  for (const auto& [id, code] : process.python_codes)
    if (is_machinery_file(code.file)) machinery_.insert(id);
  for (const auto& [id, table] : process.code_tables) {
    if (is_machinery(id)) continue;
    const auto code = process.python_codes.find(id);
    auto flow =
        CodeFlow::of(minor_of(process), table, code != process.python_codes.end() ? code->second.line : 0);
    if (flow) flows_[id] = std::make_unique<CodeFlow>(std::move(*flow));
  }
  std::map<std::uint64_t, std::set<std::size_t>> seen;
  for (const Region* region : regions)
    for (const Activation& activation : region->activations) {
      const CodeFlow* flow = find(activation.code);
      if (flow == nullptr) continue;
      for (const Event& event : activation.events)
        if (const std::size_t at = flow->doer_at(event.offset);
            at != kNone && !is_seldom(process, *region, event))
          seen[activation.code].insert(at);
    }
  for (const auto& [id, instructions] : seen) flows_.at(id)->set_seen(instructions);
  while (drop_seldom_seen(regions)) {
  }
  for (const Region* region : regions)
    if (region->is_step) find_around(*region);
}

// What is open when a step begins has called the next such function from inside of them. Where the innermost
// one was is not recorded: in loops that hold all that was seen of it.
void Codes::find_around(const Region& step) {
  for (const Activation& activation : step.activations) {
    const CodeFlow* flow = activation.before ? find(activation.code) : nullptr;
    if (flow == nullptr || activation.events.empty()) continue;
    const Event& first = activation.events.front();
    const bool calls_open = first.is_call && step.activations[first.index].before;
    if (!calls_open && activation.ended) continue;
    const std::size_t at = flow->doer_at(first.offset);
    const std::size_t last = calls_open ? at : flow->doer_at(activation.events.back().offset);
    if (at == kNone || last == kNone) continue;
    for (std::size_t l = flow->loop_at(at); l != kNone; l = flow->loops()[l].parent)
      if (flow->loops()[l].inside[last]) around_.insert({activation.code, l});
  }
}

// Instructions that were seen, but not whenever they were executed, as calls of a function whose results are
// kept: where no way is without those that would have been seen, one was executed all the same.
bool Codes::drop_seldom_seen(const std::vector<const Region*>& regions) {
  std::map<std::uint64_t, std::set<std::pair<std::size_t, std::size_t>>> pairs;
  for (const Region* region : regions) {
    if (!region->is_whole() || region->calls_missing || !region->calls_seen) continue;
    for (const Activation& activation : region->activations) {
      const CodeFlow* flow = find(activation.code);
      if (flow == nullptr || activation.before) continue;
      std::size_t from = CodeFlow::kEntry;
      for (const Visit& visit : visits_of(*region, activation, *flow)) {
        pairs[activation.code].insert({from, visit.instruction});
        from = visit.instruction;
      }
      if (activation.ended) pairs[activation.code].insert({from, CodeFlow::kExit});
    }
  }
  bool any = false;
  for (const auto& [code, ends] : pairs) {
    std::set<std::size_t> seldom;
    CodeFlow& flow = *flows_.at(code);
    for (const auto& [from, to] : ends)
      if (flow.way(from, to).passes_seen) seldom.merge(flow.passed_unseen(from, to));
    std::set<std::size_t> seen = flow.seen();
    for (const std::size_t at : seldom) seen.erase(at);
    if (seen.size() == flow.seen().size()) continue;
    flow.set_seen(seen);
    any = true;
  }
  return any;
}

const CodeFlow* Codes::find(std::uint64_t code) const {
  const auto found = flows_.find(code);
  return found != flows_.end() ? found->second.get() : nullptr;
}

}  // namespace lotus::analyzer::controlflow
