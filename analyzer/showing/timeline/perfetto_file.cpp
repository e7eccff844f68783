#include "showing/timeline/perfetto_file.hpp"

#include <utf8.h>

#include <protozero/pbf_builder.hpp>

#include "text/utf8.hpp"

namespace lotus::analyzer {
namespace {

using protozero::pbf_builder;
using protozero::pbf_tag_type;

// Numbers of fields and values, from perfetto/trace/trace_packet.proto and what it includes.
enum class TraceField : pbf_tag_type { packet = 1 };

enum class Packet : pbf_tag_type {
  clock_snapshot = 6,
  timestamp = 8,
  sequence = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  track_descriptor = 60
};
constexpr std::uint32_t kCleared = 1, kNeedsInterned = 2;  // of sequence_flags
constexpr std::uint32_t kOurSequence = 1;

enum class ClockSnapshot : pbf_tag_type { clocks = 1 };
enum class Clock : pbf_tag_type { id = 1, timestamp = 2 };
constexpr std::uint32_t kRealtime = 1, kBoottime = 6;  // clocks

enum class InternedString : pbf_tag_type { id = 1, text = 2 };

enum class Event : pbf_tag_type {
  category = 3,
  fact = 4,
  type = 9,
  name = 10,
  track = 11,
  text = 23,
  counter = 30,
  flow = 47,
  flow_end = 48
};

enum class Fact : pbf_tag_type { name = 1, flag = 2, integer = 4, real = 5, text = 6, json = 9 };

enum class Descriptor : pbf_tag_type {
  uuid = 1,
  name = 2,
  process = 3,
  thread = 4,
  parent = 5,
  counter = 8,
  ordering = 11,
  rank = 12
};
enum class ProcessField : pbf_tag_type { pid = 1, order = 3, name = 6 };
enum class ThreadField : pbf_tag_type { pid = 1, tid = 2, name = 5 };
enum class CounterField : pbf_tag_type { unit = 6 };
constexpr std::int32_t kByRank = 3;  // of ordering

// Bytes that are no UTF-8, as in paths, become U+FFFD: protobuf's strings must be valid.
std::string replaced(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character character = first_character(text);
    out += character.valid ? text.substr(0, character.bytes) : "\xef\xbf\xbd";
    text.remove_prefix(character.bytes);
  }
  return out;
}

template <class Field>
void add_text(pbf_builder<Field>& to, Field field, std::string_view text) {
  if (utf8::is_valid(text))
    to.add_string(field, text.data(), text.size());
  else
    to.add_string(field, replaced(text));
}

template <class Fill>
void add_packet(std::string& to, std::uint32_t flags, Fill fill) {
  pbf_builder<TraceField> trace(to);
  pbf_builder<Packet> packet(trace, TraceField::packet);
  packet.add_uint32(Packet::sequence, kOurSequence);
  packet.add_uint32(Packet::sequence_flags, flags);
  fill(packet);
}

constexpr std::uint64_t number(Interned string) { return static_cast<std::uint64_t>(string); }

}  // namespace

// Viewers take times without a clock of their own as boot time, which a Lotus trace does not have. The file
// gives boot time and realtime the same value, so that viewers show the time of day.
PerfettoFile::PerfettoFile(Output& out, std::int64_t base) : out_(out) {
  std::string bytes;
  add_packet(bytes, kCleared, [&](pbf_builder<Packet>& packet) {
    packet.add_int64(Packet::timestamp, base);
    pbf_builder<ClockSnapshot> snapshot(packet, Packet::clock_snapshot);
    for (const auto id : {kRealtime, kBoottime}) {
      pbf_builder<Clock> clock(snapshot, ClockSnapshot::clocks);
      clock.add_uint32(Clock::id, id);
      clock.add_int64(Clock::timestamp, base);
    }
  });
  write(bytes);
}

template <class Fill>
std::uint64_t PerfettoFile::descriptor(Fill fill) {
  const std::uint64_t uuid = ++tracks_;
  std::string bytes;
  add_packet(bytes, kNeedsInterned, [&](pbf_builder<Packet>& packet) {
    pbf_builder<Descriptor> track(packet, Packet::track_descriptor);
    track.add_uint64(Descriptor::uuid, uuid);
    fill(track);
  });
  write(bytes);
  return uuid;
}

std::uint64_t PerfettoFile::process(std::uint64_t pid, std::string_view name, std::uint64_t order) {
  return descriptor([&](pbf_builder<Descriptor>& track) {
    track.add_enum(Descriptor::ordering, kByRank);
    pbf_builder<ProcessField> process(track, Descriptor::process);
    process.add_uint64(ProcessField::pid, pid);
    process.add_uint64(ProcessField::order, order);
    add_text(process, ProcessField::name, name);
  });
}

std::uint64_t PerfettoFile::thread(std::uint64_t pid, std::uint64_t tid, std::string_view name) {
  return descriptor([&](pbf_builder<Descriptor>& track) {
    pbf_builder<ThreadField> thread(track, Descriptor::thread);
    thread.add_uint64(ThreadField::pid, pid);
    thread.add_uint64(ThreadField::tid, tid);
    add_text(thread, ThreadField::name, name);
  });
}

std::uint64_t PerfettoFile::track(std::uint64_t process, std::string_view name, std::uint64_t rank) {
  return descriptor([&](pbf_builder<Descriptor>& track) {
    track.add_uint64(Descriptor::parent, process);
    add_text(track, Descriptor::name, name);
    track.add_uint64(Descriptor::rank, rank);
  });
}

std::uint64_t PerfettoFile::counter(std::uint64_t process, std::string_view name, std::string_view unit) {
  return descriptor([&](pbf_builder<Descriptor>& track) {
    track.add_uint64(Descriptor::parent, process);
    add_text(track, Descriptor::name, name);
    pbf_builder<CounterField> counter(track, Descriptor::counter);
    counter.add_string(CounterField::unit, unit.data(), unit.size());
  });
}

Interned PerfettoFile::interned(Strings& known, InternedData field, std::string_view text) {
  if (const auto slot = known.find(text); slot != known.end()) return static_cast<Interned>(slot->second);
  const std::uint64_t id = known.size() + 1;
  known.emplace(text, id);
  std::string bytes;
  add_packet(bytes, kNeedsInterned, [&](pbf_builder<Packet>& packet) {
    pbf_builder<InternedData> data(packet, Packet::interned_data);
    pbf_builder<InternedString> string(data, field);
    string.add_uint64(InternedString::id, id);
    add_text(string, InternedString::text, text);
  });
  write(bytes);
  return static_cast<Interned>(id);
}

template <class Fill>
void PerfettoFile::fact_of(Annotations& to, std::string_view name, Fill fill) {
  const Interned known = interned(fact_names_, InternedData::fact_names, name);
  pbf_builder<Event> event(to.bytes);
  pbf_builder<Fact> fact(event, Event::fact);
  fact.add_uint64(Fact::name, number(known));
  fill(fact);
}

void PerfettoFile::fact(Annotations& to, std::string_view name, std::string_view text) {
  fact_of(to, name, [&](pbf_builder<Fact>& fact) { add_text(fact, Fact::text, text); });
}

void PerfettoFile::fact(Annotations& to, std::string_view name, std::int64_t number) {
  fact_of(to, name, [&](pbf_builder<Fact>& fact) { fact.add_int64(Fact::integer, number); });
}

void PerfettoFile::fact_real(Annotations& to, std::string_view name, double number) {
  fact_of(to, name, [&](pbf_builder<Fact>& fact) { fact.add_double(Fact::real, number); });
}

void PerfettoFile::fact_flag(Annotations& to, std::string_view name, bool truth) {
  fact_of(to, name, [&](pbf_builder<Fact>& fact) { fact.add_bool(Fact::flag, truth); });
}

void PerfettoFile::fact_json(Annotations& to, std::string_view name, std::string_view json) {
  fact_of(to, name, [&](pbf_builder<Fact>& fact) { fact.add_string(Fact::json, json.data(), json.size()); });
}

template <class Fill>
void PerfettoFile::add_event(std::string& to, std::int64_t at, std::uint64_t track, EventType type,
                             Fill fill) {
  add_packet(to, kNeedsInterned, [&](pbf_builder<Packet>& packet) {
    packet.add_int64(Packet::timestamp, at);
    pbf_builder<Event> event(packet, Packet::track_event);
    event.add_enum(Event::type, static_cast<std::int32_t>(type));
    event.add_uint64(Event::track, track);
    fill(event);
  });
}

void PerfettoFile::add_slice(std::string& to, const PerfettoSlice& slice, EventType type) {
  add_event(to, slice.start, slice.track, type, [&](pbf_builder<Event>& event) {
    if (slice.category != Interned::none) event.add_uint64(Event::category, number(slice.category));
    if (slice.name != Interned::none)
      event.add_uint64(Event::name, number(slice.name));
    else
      event.add_string(Event::text, slice.text.data(), slice.text.size());
    if (slice.arrow_from != 0) event.add_fixed64(Event::flow, slice.arrow_from);
    if (slice.arrow_to != 0) event.add_fixed64(Event::flow_end, slice.arrow_to);
    if (slice.facts != nullptr) to += slice.facts->bytes;  // fields of the event, encoded
  });
}

void PerfettoFile::end(std::string& to, std::uint64_t track, std::int64_t at) {
  add_event(to, at, track, EventType::end, [](pbf_builder<Event>&) {});
}

void PerfettoFile::count(std::string& to, std::uint64_t track, std::int64_t at, std::int64_t value) {
  add_event(to, at, track, EventType::counter,
            [&](pbf_builder<Event>& event) { event.add_int64(Event::counter, value); });
}

}  // namespace lotus::analyzer
