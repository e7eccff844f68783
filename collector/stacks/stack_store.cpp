#include "stack_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <lotus/field.hpp>

namespace lotus::collector {
namespace {

constexpr std::size_t kMaxStacks = std::size_t{1} << 22;
constexpr std::size_t kLargePending = std::size_t{1} << 20;

std::string key_of(const FunctionName& function, BinaryId binary) {
  return fmt::format("{}\n{}\n{}\n{}", binary, function.line, function.file, function.name);
}

}  // namespace

template <Kind K, class... Values>
void StackStore::define(const Values&... values) {
  if (pending_.empty() || pending_.back().size() > kLargePending) {
    pending_.emplace_back();
    pending_counts_.push_back(0);
  }
  std::vector<std::uint8_t>& body = pending_.back();
  const std::size_t size = body.size();
  body.resize(size + encoded_bound<K>(values...));
  const std::uint8_t* end = encode<K>(body.data() + size, 0, values...);
  body.resize(static_cast<std::size_t>(end - body.data()));
  ++pending_counts_.back();
}

LocationId StackStore::native(std::uint64_t common_address) {
  Location& location = native_[common_address];
  if (location.id != 0) return location.id;
  const BinaryId binary = binary_of(common_address);
  for (; last_binary_ < binaries_.count(); ++last_binary_) {
    const Binary& info = binaries_.info(last_binary_ + 1);
    define<Kind::binary>(last_binary_ + 1, info.path, info.build_id);
  }
  location.id = ++last_location_;
  define<Kind::location>(location.id, binary, offset_of(common_address));
  return location.id;
}

LocationId StackStore::nowhere() {
  if (unknown_ == 0) unknown_ = binaries_.add("[unknown]", "", 0);
  return native(common_address(unknown_, 0));
}

LocationId StackStore::python(const FunctionName& function) {
  LocationId& location = python_[key_of(function, 0)];
  if (location != 0) return location;
  location = ++last_location_;
  define<Kind::location>(location, 0u, python_.size());
  name_location(location, 0, {{function, function.line}});
  return location;
}

std::uint32_t StackStore::function(const FunctionName& function, BinaryId binary) {
  std::uint32_t& id = functions_[key_of(function, binary)];
  if (id != 0) return id;
  id = ++last_function_;
  define<Kind::function>(id, function.name, binary, function.file, function.line, function.source);
  return id;
}

void StackStore::name_location(LocationId location, BinaryId binary, const std::vector<NamedFrame>& frames) {
  for (std::size_t depth = 0; depth < frames.size(); ++depth) {
    const std::uint32_t id = function(frames[depth].function, binary);
    define<Kind::frame>(location, depth, id, frames[depth].line);
  }
}

StackId StackStore::child(StackId parent, LocationId location) {
  if (const StackId recent = recent_.find(parent, location)) return recent;
  const std::uint64_t key = std::uint64_t{parent} << 32 | location;
  StackId id = 0;
  if (const Node* known = stacks_.find(key)) {
    id = known->id;
  } else {
    if (stacks_.size() >= kMaxStacks && parent != 0) return 0;
    id = ++last_stack_;
    stacks_.add({key, id});
    recent_.add(location);
    define<Kind::stack>(id, parent, location);
  }
  recent_.asked_for(parent, id);
  return id;
}

StackId StackStore::stack(const std::vector<LocationId>& locations, bool& cut) {
  StackId stack = 0;
  for (auto location = locations.rbegin(); location != locations.rend(); ++location) {
    stack = child(stack, *location);
    if (stack != 0) continue;
    cut = true;
    return child(0, locations.front());
  }
  return stack;
}

std::vector<std::uint64_t> StackStore::unnamed() const {
  std::vector<std::uint64_t> addresses;
  for (const auto& [address, location] : native_)
    if (!location.named) addresses.push_back(address);
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

void StackStore::name(std::uint64_t common_address, const std::vector<NamedFrame>& frames) {
  Location& location = native_[common_address];
  if (location.named || location.id == 0) return;
  location.named = true;
  name_location(location.id, binary_of(common_address), frames);
}

void StackStore::restore(const Record& record) {
  switch (record.kind) {
    case Kind::binary:
      return restore_binary(record);
    case Kind::location:
      return restore_location(record);
    case Kind::stack:
      return restore_stack(record);
    case Kind::function:
      return restore_function(record);
    case Kind::frame:
      return restore_frame(record);
    default:
      return;
  }
}

void StackStore::restore_binary(const Record& record) {
  const auto id = static_cast<std::uint32_t>(field<Kind::binary, "id">(record));
  const std::string_view path = field<Kind::binary, "path">(record);
  if (!binaries_.restore(id, std::string(path), std::string(field<Kind::binary, "build_id">(record)))) return;
  last_binary_ = std::max(last_binary_, id);
  if (path == "[unknown]") unknown_ = id;
}

void StackStore::restore_location(const Record& record) {
  const auto id = static_cast<std::uint32_t>(field<Kind::location, "id">(record));
  const auto binary = static_cast<BinaryId>(field<Kind::location, "binary">(record));
  last_location_ = std::max(last_location_, id);
  if (field<Kind::location, "binary">(record) == 0) return;
  const std::uint64_t address = common_address(binary, field<Kind::location, "offset">(record));
  if (!binaries_.contains(address)) return;
  native_[address].id = id;
  restored_[id] = address;
}

void StackStore::restore_stack(const Record& record) {
  const auto id = static_cast<std::uint32_t>(field<Kind::stack, "id">(record));
  const std::uint64_t key = field<Kind::stack, "parent">(record) << 32 |
                            static_cast<std::uint32_t>(field<Kind::stack, "location">(record));
  if (key != 0 && stacks_.find(key) == nullptr) stacks_.add({key, id});
  last_stack_ = std::max(last_stack_, id);
  recent_.begin_behind(last_stack_);
}

void StackStore::restore_function(const Record& record) {
  const auto id = static_cast<std::uint32_t>(field<Kind::function, "id">(record));
  last_function_ = std::max(last_function_, id);
  const FunctionName function{std::string(field<Kind::function, "name">(record)),
                              std::string(field<Kind::function, "file">(record)),
                              field<Kind::function, "line">(record),
                              static_cast<NameSource>(field<Kind::function, "source">(record))};
  const std::uint64_t binary = field<Kind::function, "binary">(record);
  const std::string key = key_of(function, static_cast<BinaryId>(binary));
  functions_.emplace(key, id);
  if (binary == 0) restored_python_[id] = key;
}

void StackStore::restore_frame(const Record& record) {
  const auto location = static_cast<std::uint32_t>(field<Kind::frame, "location">(record));
  const auto function = static_cast<std::uint32_t>(field<Kind::frame, "function">(record));
  if (const auto native = restored_.find(location); native != restored_.end())
    native_[native->second].named = true;
  if (const auto python = restored_python_.find(function); python != restored_python_.end())
    python_.emplace(python->second, location);
}

void StackStore::write(TraceFile& file, Packer& packer, std::uint64_t ticks) const {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    FrameHeader header = frame_header(FrameType::definitions, 0);
    header.base_ticks = ticks;
    header.events = pending_counts_[i];
    file.add_packed(header, pending_[i], packer);
  }
}

void StackStore::commit() {
  pending_.clear();
  pending_counts_.clear();
}

}  // namespace lotus::collector
