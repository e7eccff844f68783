#include "showing/html/page.hpp"

#include <algorithm>

#include "answers/controlflow/views.hpp"
#include "answers/counters/ratios.hpp"
#include "answers/counters/views.hpp"
#include "answers/memory/views.hpp"
#include "answers/report/report.hpp"
#include "answers/stacks/map_views.hpp"
#include "lotus/version.hpp"
#include "showing/html/flames.hpp"
#include "showing/html/parts.hpp"
#include "showing/html/run_facts.hpp"
#include "text/escape.hpp"
#include "text/function_name.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostFunctions = 60;     // of an operation
constexpr std::size_t kMostGroups = 40;        // of storages
constexpr std::size_t kMostLivePoints = 3000;  // of a curve

// JSON inside of a script element: no name in it can end the element or begin a comment.
std::string inside_script(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size() + text.size() / 64);
  for (const char c : text) {
    if (c == '<')
      safe += "\\u003c";  // only strings have it
    else
      safe += c;
  }
  return safe;
}

std::string inside_text(std::string_view text) {
  std::string safe;
  for (const char c : escaped(text)) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '&')
      safe += "&amp;";
    else
      safe += c;
  }
  return safe;
}

// A curve with fewer points: of neighbours, the highest one.
Json thinned(const Json& points) {
  const std::size_t size = (points.size() + kMostLivePoints - 1) / kMostLivePoints;
  if (size <= 1) return points;
  Json kept = Json::array();
  for (std::size_t from = 0; from < points.size(); from += size) {
    std::size_t best = from;
    for (std::size_t i = from; i < std::min(points.size(), from + size); ++i)
      if (points[i][1] > points[best][1]) best = i;
    kept.push_back(points[best]);
  }
  return kept;
}

std::string title_of(const Findings& findings) {
  if (findings.files.empty()) return "no trace";
  std::string name = findings.files.front();
  name.erase(0, name.rfind('/') + 1);
  if (findings.files.size() > 1) name += " and " + std::to_string(findings.files.size() - 1) + " more";
  return name;
}

// The template with {{name}} filled in by `fill`, which gets the name and writes.
template <class Fill>
void fill_in(Output& out, std::string_view page, Fill fill) {
  while (true) {
    const std::size_t open = page.find("{{");
    out.write(page.substr(0, open));
    if (open == std::string_view::npos) return;
    const std::size_t close = page.find("}}", open);
    fill(page.substr(open + 2, close - open - 2));
    page.remove_prefix(close + 2);
  }
}

// The short names of those functions in this JSON whose full name differs, by full name.
Json readable_names(const Json& native) {
  Json names = Json::object();
  const auto add = [&](const std::string& name) {
    if (std::string readable = readable_function(name); readable != name)
      names.emplace(name, std::move(readable));
  };
  for (const auto& op : native["ops"])
    for (const auto& function : op["functions"]) {
      const std::string under = function["under"].is_null() ? "" : function["under"];
      const std::string name = function["function"];
      if (std::string text = function_text(name, under, function["named_by"] == "code"); text != name)
        names[name] = std::move(text);
    }
  for (const auto& frame : native["flames"]["frames"]) add(frame[0]);
  return names;
}

// What was counted; null if nothing was asked for. With the titles of ratios, for people, and the processor's
// own events, which say something in ratios only.
Json counters_page_json(const CounterFindings& counters) {
  if (counters.counters.empty()) return nullptr;
  Json json = counters_json(counters);
  json["titles"] = Json::object();
  for (const RatioRow& row : ratio_rows(counters.topdown)) json["titles"][row.key] = row.title;
  json["own_events"] = Json::array();
  if (counters.topdown != nullptr)
    for (const CounterRow& event : counters.topdown->events)
      if (counter_named(event.name).name.empty()) json["own_events"].push_back(event.name);
  return json;
}

}  // namespace

std::vector<Visitor*> Page::visitors(const Trace& trace) {
  rows_.begin(trace);
  op_times_.begin(trace);
  samples_.begin(trace);
  profile_ = std::make_unique<Profile>(trace);
  step_collector_ = std::make_unique<memory::StepCollector>(trace, steps_);
  region_collector_ = std::make_unique<controlflow::RegionCollector>(trace, regions_);
  return {&rows_, &op_times_, &samples_, profile_.get(), step_collector_.get(), region_collector_.get()};
}

void Page::add(const Trace& trace, const Reading& reading) {
  map_.add(trace, *profile_, reading);
  flames_.add(trace, *profile_);
  runs_.push_back(run_facts(trace, reading));
  profile_.reset();
  add_memory();
  add_control_flow();
}

void Page::add_control_flow() {
  region_collector_->finish();
  region_collector_.reset();
  controlflow::keep_asked(regions_);
  if (!regions_.empty()) {
    const auto answers = controlflow::answers_of(regions_);
    control_flow_.push_back(controlflow::control_flow_json(answers));
    if (first_of_control_flow_.empty() && !answers.empty())
      first_of_control_flow_ = controlflow::headline(answers.front());
  }
  regions_.clear();
}

void Page::add_memory() {
  step_collector_->finish();
  step_collector_.reset();
  const memory::MemoryAnswer answer = memory::answer_of(steps_, std::nullopt);
  if (answer.step != nullptr) {
    Json json = memory::memory_json(steps_, answer);
    for (const char* key : {"alive_at_peak", "held_longer"})
      if (json[key].size() > kMostGroups) json[key].erase(json[key].begin() + kMostGroups, json[key].end());
    json["live"] = thinned(json["live"]);
    memory_.push_back(std::move(json));
  }
  steps_.clear();
}

Json Page::native() {
  FunctionMap map = map_.take({});
  for (auto& op : map.ops)
    for (auto* functions : {&op.functions, &op.python})
      if (functions->size() > kMostFunctions) functions->resize(kMostFunctions);
  Json json = full_map_json(map);
  json["why_no_samples"] = why_no_samples(map.sampling);
  const std::vector<FlameOp> flames = flames_.take();
  json["flames"] = flames_json(flames, flames_.frames());
  json["readable"] = readable_names(json);
  return json;
}

void Page::write(Output& out, const Findings& findings) {
  const std::string title = inside_text(title_of(findings));
  fill_in(out, part_named("page.html"), [&](std::string_view name) {
    if (name == "title") return out.write(title);
    if (name == "version") return out.write(version());
    if (name == "report") return out.write(inside_script(report_json(findings)));
    if (name == "native") return out.write(inside_script(native()));
    if (name == "counters") return out.write(inside_script(counters_page_json(findings.counters)));
    if (name == "control-flow") return out.write(inside_script(control_flow_));
    if (name == "memory") return out.write(inside_script(memory_));
    if (name == "runs") return out.write(inside_script(runs_));
    if (name == "run-over-time") {
      Json json = rows_.json();
      json["lanes"] = lanes_.json();
      return out.write(inside_script(json));
    }
    if (name == "op-times") return out.write(inside_script(op_times_.json(findings.ops)));
    if (name == "samples") return out.write(inside_script(samples_.json()));
    out.write(part_named(name));
  });
}

}  // namespace lotus::analyzer
