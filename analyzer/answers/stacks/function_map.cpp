#include "answers/stacks/function_map.hpp"

#include <algorithm>
#include <set>

namespace lotus::analyzer {
namespace {

// The name of a library without suffix and version, as libjpeg for libjpeg.so.62.3.0: a hook and a loaded
// file may name the same library with different versions.
std::string_view stem(std::string_view library) { return library.substr(0, library.find(".so")); }

const EntryPoint* entry_point_of(const NamedFrame& frame, const EntryPoints& points) {
  for (const auto& [name, point] : points)
    if (name.first == frame.name && (name.second.empty() || stem(name.second) == stem(frame.library)))
      return &point;
  return nullptr;
}

void by_self(std::vector<FunctionShare>& functions) {
  std::sort(functions.begin(), functions.end(), [](const FunctionShare& a, const FunctionShare& b) {
    if (a.self.cpu_ns != b.self.cpu_ns) return a.self.cpu_ns > b.self.cpu_ns;
    if (a.total.cpu_ns != b.total.cpu_ns) return a.total.cpu_ns > b.total.cpu_ns;
    return std::tie(a.frame.name, a.frame.library) < std::tie(b.frame.name, b.frame.library);
  });
}

}  // namespace

std::optional<double> OpMap::runs_for_one_percent() const {
  const double n = all.effective();
  return n > 0 ? std::optional(samples_to_see(0.01) / n) : std::nullopt;
}

void MapBuilder::add(const Trace& trace, const Profile& profile, const Reading& reading) {
  const SamplingFacts facts = profile.facts(reading);
  map_.files.push_back(trace.source.path());
  map_.sampling.known = map_.sampling.known || facts.known;
  map_.sampling.hz = std::max(map_.sampling.hz, facts.hz);
  map_.sampling.samples += facts.samples;
  map_.sampling.lost += facts.lost;
  map_.sampling.without_end += facts.without_end;
  if (facts.refused) map_.sampling.refused = facts.refused;
  map_.sampling.cut = map_.sampling.cut || facts.cut;
  map_.duration_ns += static_cast<double>(trace.clock.duration_ns(reading.whole.ticks()));
  StackNames names(trace.stacks, frames_);
  double all = 0;
  for (const auto& [key, op] : profile.ops()) all += op.all.cpu_ns;
  for (const auto& [key, op] : profile.ops()) {
    const bool only_runs = key.role == OpRole::runner && op.all.cpu_ns < kLeastOfRunner * all;
    if (key.outside() || only_runs)
      map_.outside.add(op.all);
    else
      add_op(key, op, names);
  }
}

void MapBuilder::add_op(const OpKey& key, const OpProfile& profile, StackNames& names) {
  Building& building = ops_[key];
  OpMap& op = building.map;
  op.op = key;
  op.calls += profile.calls;
  op.wall_ns += profile.wall_ns;
  op.on_behalf += profile.on_behalf;
  op.cut += profile.cut;
  for (const auto& [name, point] : profile.all_entry_points()) op.entry_points[name].add(point);
  map_.inside.add(profile.all);
  for (const auto& [stack, tally] : profile.stacks) add_stack(building, names.frames_of(stack), tally.all());
}

void MapBuilder::add_stack(Building& building, const std::vector<FrameId>& frames, const Tally& tally) {
  const Owner owner = owner_of(frames, frames_);
  OpMap& op = building.map;
  if (owner.part == Part::tracer) {
    map_.tracer.add(tally);
    return op.tracer.add(tally);
  }
  op.all.add(tally);
  if (owner.part == Part::python || owner.part == Part::interpreter) op.interpreter.add(tally);
  if (frames.empty()) op.unnamed.add(tally);
  if (owner.frame != nullptr) {
    Tallies& own = building.frames[*owner.frame];
    own.self.add(tally);
    if (const FrameId* caller = named_caller(frames, frames_)) own.callers[*caller] += tally.cpu_ns;
  }
  const std::set<FrameId> once(frames.begin(), frames.end());  // a recursive function is in a stack once
  for (const FrameId id : once) {
    const Part part = frames_[id].part;
    if (part == Part::native || part == Part::python) building.frames[id].total.add(tally);
  }
}

void MapBuilder::finish(Building& building, const ListingRule& rule) const {
  OpMap& op = building.map;
  const double n = op.all.effective();
  for (const auto& [id, tallies] : building.frames) {
    FunctionShare function;
    function.frame = frames_[id];
    function.under = most_of(tallies.callers, frames_);
    function.self = tallies.self;
    function.total = tallies.total;
    function.share = op.all.cpu_ns > 0 ? tallies.self.cpu_ns / op.all.cpu_ns : 0;
    function.interval = exact_interval(function.share, n);
    const bool native = function.frame.part == Part::native;
    function.listed =
        native && tallies.self.samples >= rule.min_samples && function.interval.low > rule.min_share;
    const EntryPoint* exact = native ? entry_point_of(function.frame, op.entry_points) : nullptr;
    if (exact != nullptr) function.exact = *exact;
    (native ? op.functions : op.python).push_back(std::move(function));
  }
  by_self(op.functions);
  by_self(op.python);
}

FunctionMap MapBuilder::take(const ListingRule& rule) {
  map_.rule = rule;
  for (auto& [key, building] : ops_) {
    finish(building, rule);
    map_.ops.push_back(std::move(building.map));
  }
  std::stable_sort(map_.ops.begin(), map_.ops.end(),
                   [](const OpMap& a, const OpMap& b) { return a.all.cpu_ns > b.all.cpu_ns; });
  ops_.clear();
  return std::move(map_);
}

}  // namespace lotus::analyzer
