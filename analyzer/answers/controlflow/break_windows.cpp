#include "answers/controlflow/break_windows.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace lotus::analyzer::controlflow {
namespace {

// What goes on behind a break is a function of its own, of this name: …_in_NAME_at_LINE.
constexpr std::string_view kResumed = "torch_dynamo_resume_in_";
// A graph is called through a function of this file, as are functions that are not to be compiled.
constexpr std::string_view kGraphCaller = "/torch/_dynamo/eval_frame.py";
// Files of what it then calls: the graph as it was found, of AOTAutograd, of Inductor.
constexpr std::array<std::string_view, 5> kGraphFiles = {
    "/torch/_functorch/aot_autograd.py", "/torch/_functorch/_aot_autograd/runtime_wrappers.py",
    "/torch/_inductor/output_code.py", "/torch/_inductor/codecache.py", "/torch/fx/graph_module.py"};
constexpr std::string_view kGraphCode = "<eval_with_key>";

// Behind which line of which function this one goes on; 0: it is none of these.
std::uint64_t resumed_at(std::string_view name) {
  if (!last_name(name).starts_with(kResumed)) return 0;
  const std::string_view digits = name.substr(name.rfind('_') + 1);
  std::uint64_t line = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  return result.ptr == digits.data() + digits.size() ? line : 0;
}

bool is_graph_file(std::string_view file) {
  return file.starts_with(kGraphCode) ||
         std::any_of(kGraphFiles.begin(), kGraphFiles.end(),
                     [&](std::string_view ending) { return file.ends_with(ending); });
}

class Finder {
 public:
  Finder(const std::vector<memory::SourceLine>& breaks, const Region& region)
      : breaks_(breaks), region_(region) {
    find_graphs();
  }

  std::vector<BreakWindow> all() const {
    std::vector<BreakWindow> windows;
    if (std::find(graphs_.begin(), graphs_.end(), true) == graphs_.end()) return windows;  // of another kind
    for (std::size_t i = 0; i < region_.activations.size(); ++i)
      if (auto window = window_of(i)) windows.push_back(std::move(*window));
    return windows;
  }

 private:
  const PythonCode* code_of(std::size_t index) const {
    const auto found = region_.process->python_codes.find(region_.activations[index].code);
    return found == region_.process->python_codes.end() ? nullptr : &found->second;
  }
  std::uint64_t begin_of(std::size_t index) const {
    return region_.activations[index].stretches.front().begin;
  }
  std::uint64_t end_of(std::size_t index) const { return region_.activations[index].stretches.back().end; }

  // Callers begin before what they call.
  void find_graphs() {
    const std::size_t count = region_.activations.size();
    graphs_.assign(count, false);
    resumes_.assign(count, false);
    std::vector<bool> calls_graph(count, false);
    for (std::size_t i = count; i-- > 0;) {
      const PythonCode* const code = code_of(i);
      if (code == nullptr) continue;
      const bool resumed = resumed_at(code->name) != 0;
      graphs_[i] = code->file.ends_with(kGraphCaller) && calls_graph[i] && !resumes_[i];
      const std::size_t caller = region_.activations[i].caller;
      if (caller == Activation::kNobody) continue;
      calls_graph[caller] = calls_graph[caller] || calls_graph[i] || is_graph_file(code->file);
      resumes_[caller] = resumes_[caller] || resumes_[i] || resumed;
    }
  }

  std::size_t break_at(const std::string& file, std::uint64_t line) const {
    for (std::size_t b = 0; b < breaks_.size(); ++b)
      if (breaks_[b].line == line && breaks_[b].file == file) return b;
    return Activation::kNobody;
  }

  // Of a function that was part of the graph until its own break ended that.
  std::size_t break_in(const PythonCode& code) const {
    for (std::size_t b = 0; b < breaks_.size(); ++b)
      if (breaks_[b].file == code.file && last_name(breaks_[b].function) == last_name(code.name)) return b;
    return Activation::kNobody;
  }

  // The first thing compiled in it; kNobody.
  std::size_t first_compiled_in(std::size_t index) const {
    for (const Event& event : region_.activations[index].events) {
      if (!event.is_call) continue;
      const PythonCode* const code = code_of(event.index);
      if (graphs_[event.index] || (code != nullptr && resumed_at(code->name) != 0)) return event.index;
    }
    return Activation::kNobody;
  }

  std::optional<BreakWindow> window_of(std::size_t resumed) const {
    const Activation& activation = region_.activations[resumed];
    const PythonCode* const code = code_of(resumed);
    const std::uint64_t line = code != nullptr ? resumed_at(code->name) : 0;
    if (line == 0 || activation.caller == Activation::kNobody || activation.stretches.size() != 1)
      return std::nullopt;
    BreakWindow made;
    // To the graph behind it; where another break comes before that, what leads there is that one's.
    const std::size_t next = first_compiled_in(resumed);
    made.whole = {begin_of(activation.caller), begin_of(resumed)};
    if (next == Activation::kNobody)
      made.whole.end = end_of(resumed);
    else if (graphs_[next])
      made.whole.end = begin_of(next);
    for (const Event& event : region_.activations[activation.caller].events)
      if (event.is_call && graphs_[event.index] && event.begin < begin_of(resumed))
        made.whole.begin = event.end;
    made.broken = break_at(code->file, line);
    if (made.broken == Activation::kNobody && !find_callee(resumed, made)) return std::nullopt;
    for (std::size_t i = 0; i < graphs_.size(); ++i)
      if (graphs_[i] && made.whole.holds(begin_of(i))) made.gaps.push_back({begin_of(i), end_of(i)});
    return made;
  }

  // The break is in a function that was called at this line; what is its own is no part of this one.
  bool find_callee(std::size_t resumed, BreakWindow& made) const {
    const std::size_t caller = region_.activations[resumed].caller;
    std::size_t child = Activation::kNobody;
    for (std::size_t i = caller + 1; i < resumed; ++i) {
      if (region_.activations[i].caller == caller) child = i;
      if (child == Activation::kNobody || begin_of(child) < made.whole.begin) continue;
      const PythonCode* const code = code_of(i);
      if (code == nullptr || resumed_at(code->name) != 0) continue;
      made.broken = break_in(*code);
      if (made.broken == Activation::kNobody) continue;
      made.counts = !resumes_[child];
      if (resumes_[child]) made.gaps.push_back({begin_of(child), end_of(child)});
      return true;
    }
    return false;
  }

  const std::vector<memory::SourceLine>& breaks_;
  const Region& region_;
  std::vector<bool> graphs_, resumes_;  // by activation: it is a graph; it has what goes on behind a break
};

}  // namespace

bool BreakWindow::holds(std::uint64_t ticks) const {
  return whole.holds(ticks) &&
         std::none_of(gaps.begin(), gaps.end(), [&](const Window& gap) { return gap.holds(ticks); });
}

std::string_view last_name(std::string_view qualified) {
  const std::size_t dot = qualified.rfind('.');
  return dot == std::string_view::npos ? qualified : qualified.substr(dot + 1);
}

std::string original_function(std::string_view name) {
  constexpr std::string_view kAt = "_at_";
  while (resumed_at(name) != 0) {
    const std::string_view last = last_name(name);
    name = last.substr(kResumed.size(), last.rfind(kAt) - kResumed.size());
  }
  return std::string(name);
}

std::vector<BreakWindow> break_windows(const std::vector<memory::SourceLine>& breaks, const Region& region) {
  return Finder(breaks, region).all();
}

}  // namespace lotus::analyzer::controlflow
