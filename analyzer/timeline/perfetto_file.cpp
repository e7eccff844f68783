#include "timeline/perfetto_file.hpp"

#include "text/utf8.hpp"
#include "timeline/protobuf.hpp"

namespace lotus::analyzer {
namespace {

// Numbers of fields and values, from perfetto/trace/trace_packet.proto and what it includes.
namespace packet {
constexpr std::uint32_t kPacket = 1;  // of Trace
constexpr std::uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11,
                        kInternedData = 12, kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr std::uint64_t kCleared = 1, kNeedsInterned = 2;  // of kSequenceFlags
constexpr std::uint64_t kOurSequence = 1;
}  // namespace packet

namespace snapshot {
constexpr std::uint32_t kClocks = 1, kId = 1, kTime = 2;
constexpr std::uint64_t kRealtime = 1, kBoottime = 6;
}  // namespace snapshot

namespace event_field {
constexpr std::uint32_t kCategory = 3, kFact = 4, kType = 9, kName = 10, kTrack = 11, kText = 23,
                        kCounter = 30, kFlow = 47, kFlowEnd = 48;
}  // namespace event_field

namespace fact_field {
constexpr std::uint32_t kName = 1, kFlag = 2, kInteger = 4, kReal = 5, kText = 6, kJson = 9;
}  // namespace fact_field

namespace descriptor_field {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8,
                        kOrdering = 11, kRank = 12;
constexpr std::uint32_t kProcessPid = 1, kProcessOrder = 3, kProcessName = 6;
constexpr std::uint32_t kThreadPid = 1, kThreadTid = 2, kThreadName = 5;
constexpr std::uint32_t kCounterUnit = 6;
constexpr std::uint64_t kByRank = 3;
}  // namespace descriptor_field

// What is no UTF-8, as in a path of any bytes, becomes U+FFFD: protobuf's strings must be valid.
std::string valid(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character character = first_character(text);
    out += character.valid ? text.substr(0, character.bytes) : "\xef\xbf\xbd";
    text.remove_prefix(character.bytes);
  }
  return out;
}

template <class Fill>
void add_packet(std::string& to, std::uint64_t flags, Fill fill) {
  ProtoWriter writer(to);
  writer.message(packet::kPacket, [&] {
    writer.number(packet::kSequence, packet::kOurSequence);
    writer.number(packet::kSequenceFlags, flags);
    fill(writer);
  });
}

}  // namespace

// Viewers take times without a clock of their own as boot time. What it was is not in a Lotus trace: the file
// gives both clocks the same value, so that they can tell the time of day.
PerfettoFile::PerfettoFile(Output& out, std::int64_t base) : out_(out) {
  std::string bytes;
  add_packet(bytes, packet::kCleared, [&](ProtoWriter& writer) {
    writer.number(packet::kTimestamp, static_cast<std::uint64_t>(base));
    writer.message(packet::kClockSnapshot, [&] {
      for (const auto clock : {snapshot::kRealtime, snapshot::kBoottime})
        writer.message(snapshot::kClocks, [&] {
          writer.number(snapshot::kId, clock);
          writer.number(snapshot::kTime, static_cast<std::uint64_t>(base));
        });
    });
  });
  write(bytes);
}

template <class Fill>
std::uint64_t PerfettoFile::descriptor(Fill fill) {
  const std::uint64_t uuid = ++tracks_;
  std::string bytes;
  add_packet(bytes, packet::kNeedsInterned, [&](ProtoWriter& writer) {
    writer.message(packet::kTrackDescriptor, [&] {
      writer.number(descriptor_field::kUuid, uuid);
      fill(writer);
    });
  });
  write(bytes);
  return uuid;
}

std::uint64_t PerfettoFile::process(std::uint64_t pid, std::string_view name, std::uint64_t order) {
  return descriptor([&](ProtoWriter& writer) {
    writer.number(descriptor_field::kOrdering, descriptor_field::kByRank);
    writer.message(descriptor_field::kProcess, [&] {
      writer.number(descriptor_field::kProcessPid, pid);
      writer.number(descriptor_field::kProcessOrder, order);
      writer.text(descriptor_field::kProcessName, valid(name));
    });
  });
}

std::uint64_t PerfettoFile::thread(std::uint64_t pid, std::uint64_t tid, std::string_view name) {
  return descriptor([&](ProtoWriter& writer) {
    writer.message(descriptor_field::kThread, [&] {
      writer.number(descriptor_field::kThreadPid, pid);
      writer.number(descriptor_field::kThreadTid, tid);
      writer.text(descriptor_field::kThreadName, valid(name));
    });
  });
}

std::uint64_t PerfettoFile::track(std::uint64_t process, std::string_view name, std::uint64_t rank) {
  return descriptor([&](ProtoWriter& writer) {
    writer.number(descriptor_field::kParent, process);
    writer.text(descriptor_field::kName, valid(name));
    writer.number(descriptor_field::kRank, rank);
  });
}

std::uint64_t PerfettoFile::counter(std::uint64_t process, std::string_view name, std::string_view unit) {
  return descriptor([&](ProtoWriter& writer) {
    writer.number(descriptor_field::kParent, process);
    writer.text(descriptor_field::kName, valid(name));
    writer.message(descriptor_field::kCounter, [&] { writer.text(descriptor_field::kCounterUnit, unit); });
  });
}

Interned PerfettoFile::interned(Strings& known, std::uint32_t field, std::string_view text) {
  const auto [slot, fresh] = known.try_emplace(std::string(text), known.size() + 1);
  const std::uint64_t number = slot->second;
  if (fresh) {
    std::string bytes;
    add_packet(bytes, packet::kNeedsInterned, [&](ProtoWriter& writer) {
      writer.message(packet::kInternedData, [&] {
        writer.message(field, [&] {
          writer.number(1, number);
          writer.text(2, valid(text));
        });
      });
    });
    write(bytes);
  }
  return static_cast<Interned>(number);
}

template <class Fill>
void PerfettoFile::fact_of(Annotations& to, std::string_view name, Fill fill) {
  const Interned known = interned(fact_names_, kFactNames, name);
  ProtoWriter writer(to.bytes);
  writer.message(event_field::kFact, [&] {
    writer.number(fact_field::kName, static_cast<std::uint64_t>(known));
    fill(writer);
  });
}

void PerfettoFile::fact(Annotations& to, std::string_view name, std::string_view text) {
  fact_of(to, name, [&](ProtoWriter& writer) { writer.text(fact_field::kText, valid(text)); });
}

void PerfettoFile::fact(Annotations& to, std::string_view name, std::int64_t number) {
  fact_of(to, name, [&](ProtoWriter& writer) {
    writer.number(fact_field::kInteger, static_cast<std::uint64_t>(number));
  });
}

void PerfettoFile::fact_real(Annotations& to, std::string_view name, double number) {
  fact_of(to, name, [&](ProtoWriter& writer) { writer.real(fact_field::kReal, number); });
}

void PerfettoFile::fact_flag(Annotations& to, std::string_view name, bool truth) {
  fact_of(to, name, [&](ProtoWriter& writer) { writer.number(fact_field::kFlag, truth ? 1 : 0); });
}

void PerfettoFile::fact_json(Annotations& to, std::string_view name, std::string_view json) {
  fact_of(to, name, [&](ProtoWriter& writer) { writer.text(fact_field::kJson, json); });
}

void PerfettoFile::event(std::string& to, const PerfettoSlice& slice, std::uint64_t type) {
  add_packet(to, packet::kNeedsInterned, [&](ProtoWriter& writer) {
    writer.number(packet::kTimestamp, static_cast<std::uint64_t>(slice.start));
    writer.message(packet::kTrackEvent, [&] {
      writer.number(event_field::kType, type);
      writer.number(event_field::kTrack, slice.track);
      if (slice.category != Interned::none)
        writer.number(event_field::kCategory, static_cast<std::uint64_t>(slice.category));
      if (slice.name != Interned::none)
        writer.number(event_field::kName, static_cast<std::uint64_t>(slice.name));
      else
        writer.text(event_field::kText, slice.text);
      if (slice.arrow_from != 0) writer.fixed64(event_field::kFlow, slice.arrow_from);
      if (slice.arrow_to != 0) writer.fixed64(event_field::kFlowEnd, slice.arrow_to);
      if (slice.facts != nullptr) to += slice.facts->bytes;
    });
  });
}

void PerfettoFile::end(std::string& to, std::uint64_t track, std::int64_t at) {
  add_packet(to, packet::kNeedsInterned, [&](ProtoWriter& writer) {
    writer.number(packet::kTimestamp, static_cast<std::uint64_t>(at));
    writer.message(packet::kTrackEvent, [&] {
      writer.number(event_field::kType, kEnd);
      writer.number(event_field::kTrack, track);
    });
  });
}

void PerfettoFile::count(std::string& to, std::uint64_t track, std::int64_t at, std::int64_t value) {
  add_packet(to, packet::kNeedsInterned, [&](ProtoWriter& writer) {
    writer.number(packet::kTimestamp, static_cast<std::uint64_t>(at));
    writer.message(packet::kTrackEvent, [&] {
      writer.number(event_field::kType, kCounter);
      writer.number(event_field::kTrack, track);
      writer.number(event_field::kCounter, static_cast<std::uint64_t>(value));
    });
  });
}

}  // namespace lotus::analyzer
