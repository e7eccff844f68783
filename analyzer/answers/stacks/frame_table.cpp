#include "answers/stacks/frame_table.hpp"

#include <algorithm>
#include <string_view>

#include "text/function_name.hpp"

namespace lotus::analyzer {
namespace {

Part part_of(std::string_view library) {
  if (library.starts_with("liblotus.so")) return Part::tracer;
  const bool python = library.starts_with("libpython") ||
                      (library.starts_with("python") &&
                       library.find_first_not_of("0123456789.", 6) == std::string_view::npos);
  return python ? Part::interpreter : Part::native;
}

bool reads_clock(const NamedFrame& frame) {
  return frame.library == "[vdso]" || frame.library.starts_with("linux-vdso") ||
         frame.name.ends_with("clock_gettime");
}

}  // namespace

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

FrameId FrameTable::intern(NamedFrame frame) {
  const auto [slot, fresh] =
      ids_.try_emplace({frame.part, frame.name, frame.library}, static_cast<FrameId>(frames_.size()));
  if (fresh) frames_.push_back(std::move(frame));
  return slot->second;
}

std::vector<FrameId> StackNames::frames_of(std::uint64_t stack) {
  constexpr std::size_t kMostFrames = 1 << 14;  // more is damage: 16 KiB of a stack are copied
  std::vector<FrameId> frames;
  for (const std::uint64_t location : stacks_.path(stack)) {
    const auto inlined = at(location);
    if (frames.size() + inlined.size() > kMostFrames) break;
    frames.insert(frames.end(), inlined.begin(), inlined.end());
  }
  return frames;
}

std::span<const FrameId> StackNames::at(std::uint64_t id) {
  const auto [slot, fresh] = by_location_.try_emplace(id);
  if (!fresh) return slot->second;
  const Location* location = stacks_.location(id);
  if (location == nullptr) return slot->second;
  for (const auto& frame : location->frames)
    slot->second.push_back(frames_.intern(named(*location, frame.function)));
  if (slot->second.empty()) slot->second.push_back(frames_.intern(unnamed(*location)));
  return slot->second;
}

NamedFrame StackNames::named(const Location& location, std::uint64_t id) const {
  const Function* function = stacks_.function(id);
  if (function == nullptr) return unnamed(location);
  if (function->source == NameSource::python)
    return {function->name, base_name(function->file), function->file, function->line, Part::python,
            true,           function->source};
  const Binary* binary = stacks_.binary(function->binary != 0 ? function->binary : location.binary);
  const std::string library = binary == nullptr ? "?" : base_name(binary->path);
  return {function->name, library, function->file, function->line, part_of(library), true, function->source};
}

NamedFrame StackNames::unnamed(const Location& location) const {
  if (location.binary == 0)
    return {"(a Python function)", "?", "", 0, Part::python, false, NameSource::python};
  const Binary* binary = stacks_.binary(location.binary);
  const std::string library = binary == nullptr ? "?" : base_name(binary->path);
  // The functions behind unnamed addresses are not known: one frame per address would look like many
  // functions.
  return {library + "!?", library, "", 0, part_of(library), false, NameSource::unknown};
}

const FrameId* named_caller(std::span<const FrameId> frames, const FrameTable& table) {
  if (frames.empty() || table[frames.front()].part != Part::native || !table[frames.front()].by_address())
    return nullptr;
  for (const FrameId& id : frames.subspan(1)) {
    if (table[id].library != table[frames.front()].library) return nullptr;
    if (!table[id].by_address()) return &id;
  }
  return nullptr;
}

std::string function_text(const std::string& name, const std::string& under, bool by_code) {
  std::string text = readable_function(name);
  if (!under.empty()) text += " in " + readable_function(under);
  if (by_code) text += " (by its code)";
  return text;
}

Owner owner_of(std::span<const FrameId> frames, const FrameTable& table) {
  const auto caller =
      std::find_if(frames.begin(), frames.end(), [&](FrameId f) { return !reads_clock(table[f]); });
  if (caller != frames.end() && table[*caller].part == Part::tracer) return {Part::tracer, nullptr};
  if (frames.empty()) return {};
  const Part part = table[frames.front()].part;
  if (part != Part::interpreter) return {part, &frames.front()};
  const auto python =
      std::find_if(frames.begin(), frames.end(), [&](FrameId f) { return table[f].part == Part::python; });
  if (python == frames.end()) return {Part::interpreter, nullptr};
  return {Part::python, &*python};
}

}  // namespace lotus::analyzer
