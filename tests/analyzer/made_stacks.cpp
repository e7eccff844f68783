#include "made_stacks.hpp"

#include <utility>

namespace lotus::analyzer::test {
namespace {

std::pair<std::string, std::string> parts(const std::string& frame) {
  const std::size_t bar = frame.rfind('|');
  return {frame.substr(0, bar), frame.substr(bar + 1)};
}

bool is_python(const std::string& frame) { return frame.ends_with(".py"); }

}  // namespace

std::uint64_t MadeStacks::binary(const std::string& library) {
  const auto [slot, fresh] = binaries_.try_emplace(library, binaries_.size() + 1);
  if (fresh) trace_.define<Kind::binary>(0, at(0), slot->second, "/usr/lib/" + library, "abcd");
  return slot->second;
}

std::uint64_t MadeStacks::function(const std::string& frame) {
  const auto [slot, fresh] = functions_.try_emplace(frame, functions_.size() + 1);
  if (!fresh) return slot->second;
  const auto [name, library] = parts(frame);
  const auto source = is_python(frame)                        ? NameSource::python
                      : name.find("!0x") != std::string::npos ? NameSource::unwind_entry
                      : name.ends_with("_by_code")            ? NameSource::code
                                                              : NameSource::dynsym;
  trace_.define<Kind::function>(0, at(9000), slot->second, name, is_python(frame) ? 0 : binary(library),
                                is_python(frame) ? "/app/" + library : "", 7, source);
  return slot->second;
}

std::uint64_t MadeStacks::inlined(const Frames& frames) {
  const std::uint64_t id = ++next_location_;
  const auto library = parts(frames.front()).second;
  trace_.define<Kind::location>(0, at(0), id, is_python(frames.front()) ? 0 : binary(library), 0x1000 + id);
  for (std::size_t depth = 0; depth < frames.size(); ++depth)
    trace_.define<Kind::frame>(0, at(9000), id, depth, function(frames[depth]), 11);
  return id;
}

std::uint64_t MadeStacks::location(const std::string& frame) {
  const auto hit = locations_.find(frame);
  if (hit != locations_.end()) return hit->second;
  return locations_[frame] = inlined({frame});
}

std::uint64_t MadeStacks::child(std::uint64_t parent, std::uint64_t location) {
  const auto [slot, fresh] = stacks_.try_emplace({parent, location}, stacks_.size() + 1);
  if (fresh) trace_.define<Kind::stack>(0, at(0), slot->second, parent, location);
  return slot->second;
}

std::uint64_t MadeStacks::stack(const Frames& frames) {
  std::uint64_t id = 0;
  for (const auto& frame : frames) id = child(id, location(frame));
  return id;
}

void MadeStacks::sample(std::uint64_t op, std::uint64_t stack, std::uint64_t flags, std::uint64_t weight,
                        std::uint64_t tid) {
  const std::size_t size = body_.size();
  body_.resize(size + encoded_bound<Kind::stack_sample>(tid, op, stack, flags, weight));
  const auto* end = encode<Kind::stack_sample>(body_.data() + size, 1000, tid, op, stack, flags, weight);
  body_.resize(static_cast<std::size_t>(end - body_.data()));
  ++samples_;
}

void MadeStacks::count(std::uint64_t counter, std::uint64_t value, std::uint64_t enabled,
                       std::uint64_t running) {
  const std::size_t size = body_.size();
  body_.resize(size + encoded_bound<Kind::sample_count>(counter, value, enabled, running));
  const auto* end =
      encode<Kind::sample_count>(body_.data() + size, std::uint64_t{0}, counter, value, enabled, running);
  body_.resize(static_cast<std::size_t>(end - body_.data()));
}

void MadeStacks::flush(std::uint32_t process, double ms) {
  FrameHeader head = frame_header(FrameType::samples, process);
  head.base_ticks = at(ms);
  head.events = std::exchange(samples_, 0);
  trace_.frame(head, std::exchange(body_, {}));
}

}  // namespace lotus::analyzer::test
