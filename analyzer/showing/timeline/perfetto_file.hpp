// A trace in Perfetto's own format: a protobuf of packets (perfetto/trace/trace.proto). Times are realtime
// ns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "text/output.hpp"

namespace lotus::analyzer {

// A number that stands for a string of the file.
enum class Interned : std::uint64_t { none = 0 };

// Facts about a slice, encoded.
struct Annotations {
  std::string bytes;
};

struct PerfettoSlice {
  std::uint64_t track = 0;
  std::int64_t start = 0;
  Interned category{}, name{};
  std::string_view text{};       // the name, where it is used only once
  std::uint64_t arrow_from = 0;  // number of an arrow that begins here; 0: none
  std::uint64_t arrow_to = 0;    // that ends here
  const Annotations* facts = nullptr;
};

// Packets are appended to strings, so that they can wait for others; strings and tracks that they refer to
// are in the file at once. Viewers sort events by time; those of the same time stay in the order of the file.
class PerfettoFile {
 public:
  // `base`: when the trace began. `out` outlives the object.
  PerfettoFile(Output& out, std::int64_t base);

  // Each returns the number of a new track.
  std::uint64_t process(std::uint64_t pid, std::string_view name, std::uint64_t order);
  std::uint64_t thread(std::uint64_t pid, std::uint64_t tid, std::string_view name);
  // Inside the process's; those of the least rank stand first.
  std::uint64_t track(std::uint64_t process, std::string_view name, std::uint64_t rank);
  std::uint64_t counter(std::uint64_t process, std::string_view name, std::string_view unit);

  // The number of a string, which is written when it is new.
  Interned category(std::string_view text) { return interned(categories_, InternedData::categories, text); }
  Interned name(std::string_view text) { return interned(names_, InternedData::names, text); }

  void fact(Annotations& to, std::string_view name, std::string_view text);
  void fact(Annotations& to, std::string_view name, std::int64_t number);
  void fact_real(Annotations& to, std::string_view name, double number);
  void fact_flag(Annotations& to, std::string_view name, bool truth);
  // A JSON value, which becomes one fact for each part of it.
  void fact_json(Annotations& to, std::string_view name, std::string_view json);

  // A slice that ends needs both.
  static void begin(std::string& to, const PerfettoSlice& slice) { add_slice(to, slice, EventType::begin); }
  static void end(std::string& to, std::uint64_t track, std::int64_t at);
  static void instant(std::string& to, const PerfettoSlice& slice) {
    add_slice(to, slice, EventType::instant);
  }
  static void count(std::string& to, std::uint64_t track, std::int64_t at, std::int64_t value);

  void write(std::string_view packets) { out_.write(packets); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;  // texts are looked up without a copy
  };
  using Strings = std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>>;
  // Fields and values, from perfetto/trace/trace_packet.proto and what it includes.
  enum class InternedData : std::uint32_t { categories = 1, names = 2, fact_names = 3 };
  enum class EventType : std::int32_t { begin = 1, end = 2, instant = 3, counter = 4 };

  template <class Fill>
  static void add_event(std::string& to, std::int64_t at, std::uint64_t track, EventType type, Fill fill);
  static void add_slice(std::string& to, const PerfettoSlice& slice, EventType type);
  Interned interned(Strings& known, InternedData field, std::string_view text);
  template <class Fill>
  void fact_of(Annotations& to, std::string_view name, Fill fill);
  template <class Fill>
  std::uint64_t descriptor(Fill fill);

  Output& out_;
  Strings categories_, names_, fact_names_;
  std::uint64_t tracks_ = 0;
};

}  // namespace lotus::analyzer
