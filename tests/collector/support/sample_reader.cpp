#include "support/sample_reader.hpp"

#include <algorithm>
#include <lotus/field.hpp>
#include <map>
#include <stdexcept>

namespace lotus::test {
namespace {

struct Function {
  std::string name;
  NameSource source{};
};
struct Place {
  std::uint64_t binary = 0, offset = 0;
};

class Reader {
 public:
  // Names may be defined anywhere in the trace, but stacks, locations and binaries before their use.
  void read_names(const Record& record) {
    if (record.kind == Kind::function)
      functions_[field<Kind::function, "id">(record)] = {
          std::string(field<Kind::function, "name">(record)),
          static_cast<NameSource>(field<Kind::function, "source">(record))};
    if (record.kind == Kind::frame)
      frames_[field<Kind::frame, "location">(record)][field<Kind::frame, "depth">(record)] =
          field<Kind::frame, "function">(record);
  }
  void read_stacks(const Record& record) {
    if (record.kind == Kind::binary)
      binaries_[field<Kind::binary, "id">(record)] = std::string(field<Kind::binary, "path">(record));
    if (record.kind == Kind::location)
      places_[field<Kind::location, "id">(record)] = {field<Kind::location, "binary">(record),
                                                      field<Kind::location, "offset">(record)};
    if (record.kind == Kind::stack)
      stacks_[field<Kind::stack, "id">(record)] = {field<Kind::stack, "parent">(record),
                                                   field<Kind::stack, "location">(record)};
  }
  std::vector<SampleFrame> frames_of(std::uint64_t stack) const {
    std::vector<SampleFrame> all;
    while (stack != 0) {
      const auto found = stacks_.find(stack);
      if (found == stacks_.end()) throw std::runtime_error("a stack that nothing defines");
      add(found->second.second, all);
      stack = found->second.first;
    }
    return all;
  }

 private:
  void add(std::uint64_t location, std::vector<SampleFrame>& all) const {
    const auto place = places_.find(location);
    if (place == places_.end()) throw std::runtime_error("a location that nothing defines");
    SampleFrame frame;
    frame.offset = place->second.offset;
    if (place->second.binary != 0) {
      const auto binary = binaries_.find(place->second.binary);
      if (binary == binaries_.end()) throw std::runtime_error("a binary that nothing defines");
      frame.binary = binary->second;
    }
    const auto names = frames_.find(location);
    if (names == frames_.end()) return all.push_back(frame);
    for (const auto& [depth, id] : names->second) {
      const auto function = functions_.find(id);
      if (function == functions_.end()) throw std::runtime_error("a function that nothing defines");
      frame.function = function->second.name;
      frame.source = function->second.source;
      all.push_back(frame);
    }
  }

  std::map<std::uint64_t, std::string> binaries_;
  std::map<std::uint64_t, Place> places_;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> stacks_;  // parent, location
  std::map<std::uint64_t, Function> functions_;
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> frames_;  // function by depth, by location
};

template <class Visit>
void each_record(const Frame& frame, Visit visit) {
  const std::uint8_t* at = frame.body.data();
  const std::uint8_t* const end = at + frame.body.size();
  Record record;
  while (at != end) {
    at = decode(at, end, record);
    if (at == nullptr) throw std::runtime_error("a frame that is no records");
    visit(record);
  }
}

}  // namespace

std::string Sample::innermost(std::size_t count) const {
  std::string names;
  for (std::size_t i = 0; i < std::min(count, frames.size()); ++i)
    names += (i > 0 ? " < " : "") + frames[i].function;
  return names;
}

std::vector<Sample> read_samples(const Trace& trace) {
  Reader reader;
  const auto is_own = [](const Frame& frame) {
    return frame.header.type == FrameType::definitions && frame.header.process == 0;
  };
  for (const Frame& frame : trace.frames)
    if (is_own(frame)) each_record(frame, [&](const Record& record) { reader.read_names(record); });
  std::vector<Sample> samples;
  for (const Frame& frame : trace.frames) {
    if (is_own(frame)) each_record(frame, [&](const Record& record) { reader.read_stacks(record); });
    if (frame.header.type != FrameType::samples) continue;
    std::uint64_t ticks = frame.header.base_ticks;
    const std::size_t before = samples.size();
    each_record(frame, [&](const Record& record) {
      if (record.kind != Kind::stack_sample) throw std::runtime_error("another record among samples");
      ticks += record.dt;
      samples.push_back({frame.header.process, ticks, field<Kind::stack_sample, "tid">(record),
                         field<Kind::stack_sample, "op">(record), field<Kind::stack_sample, "flags">(record),
                         field<Kind::stack_sample, "weight">(record),
                         reader.frames_of(field<Kind::stack_sample, "stack">(record))});
    });
    if (samples.size() - before != frame.header.events)
      throw std::runtime_error("a frame with another number of samples than it says");
  }
  return samples;
}

}  // namespace lotus::test
