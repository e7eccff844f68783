#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "answers/stacks/flame.hpp"
#include "text/escape.hpp"
#include "text/function_name.hpp"

namespace lotus::analyzer {
namespace {

constexpr const char* kSchema = "https://www.speedscope.app/file-format-schema.json";

// In the folded form, semicolons separate frames and line ends separate stacks.
std::string folded_name(const std::string& name) {
  std::string safe = escaped(name);
  for (char& c : safe)
    if (c == ';') c = ':';
  return safe;
}

// Numbers the frames that are used, in order of their first use.
class UsedFrames {
 public:
  explicit UsedFrames(const FrameTable& frames) : frames_(frames) {}

  std::size_t index(FrameId id) {
    const auto [slot, fresh] = numbers_.try_emplace(id, numbers_.size());
    if (fresh) list_.push_back(described(frames_[id]));
    return slot->second;
  }
  nlohmann::ordered_json take() { return std::move(list_); }

 private:
  static nlohmann::ordered_json described(const NamedFrame& frame) {
    nlohmann::ordered_json out{{"name", escaped(readable_function(frame.name))}};
    // speedscope groups and colours by file: without a source file, the library is the best substitute.
    out["file"] = escaped(frame.file.empty() ? frame.library : frame.file);
    if (frame.line > 0) out["line"] = frame.line;
    return out;
  }

  const FrameTable& frames_;
  std::unordered_map<FrameId, std::size_t> numbers_;
  nlohmann::ordered_json list_ = nlohmann::ordered_json::array();
};

nlohmann::ordered_json profile_of(const FlameOp& op, UsedFrames& used) {
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  nlohmann::ordered_json weights = nlohmann::ordered_json::array();
  std::int64_t end = 0;
  for (const auto& stack : op.stacks) {
    nlohmann::ordered_json frames = nlohmann::ordered_json::array();
    for (const FrameId id : stack.frames) frames.push_back(used.index(id));
    samples.push_back(std::move(frames));
    const auto ns = static_cast<std::int64_t>(std::llround(stack.ns));
    weights.push_back(ns);
    end += ns;
  }
  return {{"type", "sampled"}, {"name", escaped(op.name)}, {"unit", "nanoseconds"}, {"startValue", 0},
          {"endValue", end},   {"samples", samples},       {"weights", weights}};
}

}  // namespace

void write_folded(const std::vector<FlameOp>& ops, const FrameTable& frames, const WriteText& write) {
  std::unordered_map<FrameId, std::string> names;  // a frame is in many stacks
  const auto name_of = [&](FrameId id) -> const std::string& {
    const auto [slot, fresh] = names.try_emplace(id);
    if (fresh) slot->second = folded_name(readable_function(frames[id].name));
    return slot->second;
  };
  for (const auto& op : ops)
    for (const auto& stack : op.stacks) {
      std::string line = folded_name(op.name);
      for (const FrameId id : stack.frames) line.append(";").append(name_of(id));
      write(fmt::format("{} {}\n", line, std::llround(stack.ns / 1000)));
    }
}

void write_speedscope(const std::vector<FlameOp>& ops, const FrameTable& frames, const std::string& name,
                      const WriteText& write) {
  UsedFrames used(frames);
  nlohmann::ordered_json profiles = nlohmann::ordered_json::array();
  for (const auto& op : ops) profiles.push_back(profile_of(op, used));
  const nlohmann::ordered_json file{{"$schema", kSchema},
                                    {"name", escaped(name)},
                                    {"exporter", "lotus-analyze"},
                                    {"activeProfileIndex", 0},
                                    {"shared", {{"frames", used.take()}}},
                                    {"profiles", profiles}};
  write(file.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace lotus::analyzer
