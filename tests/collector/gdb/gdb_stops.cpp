#include "gdb/gdb_stops.hpp"

#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <lotus/field.hpp>
#include <sstream>
#include <stdexcept>

#include "support/temporary.hpp"

namespace lotus::test {
namespace {

std::vector<std::uint8_t> from_hex(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

void read_line(std::istringstream& words, const std::string& what, GdbStop& stop) {
  words >> std::hex;
  if (what == "registers") {
    stop.snapshot.header.machine = kOwnRegisters.machine;
    stop.snapshot.numbers = kOwnRegisters;
    for (std::size_t i = 0; i < kOwnRegisters.count; ++i) words >> stop.snapshot.registers[i];
  } else if (what == "stack") {
    std::string bytes;
    words >> stop.snapshot.header.stack_start >> bytes;
    stop.stack = from_hex(bytes);
  } else if (what == "map") {
    GdbStop::Mapping mapping;
    words >> mapping.start >> mapping.end >> mapping.offset >> mapping.path;
    stop.mappings.push_back(mapping);
  } else if (what == "frame") {
    words >> stop.pcs.emplace_back();
  } else {
    throw std::runtime_error("gdb's script wrote a line that is unknown: " + what);
  }
  if (words.fail()) throw std::runtime_error("gdb's script wrote an unusable line of " + what);
}

// The load bias: the offset from the file's virtual addresses to the mapped ones. Empty if the mapping is not
// of a loaded segment.
std::optional<std::uint64_t> bias_of(const GdbStop::Mapping& mapping, const collector::ElfFile& file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.image().data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, file.image().data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && mapping.offset <= segment.p_offset &&
        segment.p_offset < mapping.offset + (mapping.end - mapping.start))
      return mapping.start - mapping.offset + segment.p_offset - segment.p_vaddr;
  }
  return std::nullopt;
}

}  // namespace

void GdbStop::define(collector::Modules& modules) const {
  std::uint64_t id = 0;
  for (const Mapping& mapping : mappings) {
    const auto file = collector::ElfFile::open(mapping.path);
    const auto bias = file ? bias_of(mapping, *file) : std::nullopt;
    if (!bias) continue;
    Record record;
    record.kind = Kind::module;
    record.u[kPlaceOf<Kind::module, "id">] = ++id;
    record.u[kPlaceOf<Kind::module, "start">] = mapping.start;
    record.u[kPlaceOf<Kind::module, "end">] = mapping.end;
    record.u[kPlaceOf<Kind::module, "bias">] = *bias;
    record.s[kPlaceOf<Kind::module, "path">] = mapping.path;
    record.s[kPlaceOf<Kind::module, "build_id">] = file->build_id();
    modules.define(record, 0, 0);
  }
}

std::vector<GdbStop> run_under_gdb(std::string& said) {
  const TemporaryDirectory place;
  const std::string scripts = LOTUS_TEST_GDB_SCRIPTS;
  const std::string command = "LOTUS_STOPS=" + (place / "stops") + " " LOTUS_TEST_GDB " -q -nx -batch -x " +
                              scripts + "/stops.py --args " LOTUS_TEST_PYTHON " " + scripts + "/work.py >" +
                              (place / "said") + " 2>&1 </dev/null";
  const int code = std::system(command.c_str());
  said = read_text(place / "said");
  if (code != 0) return {};
  std::vector<GdbStop> stops;
  std::ifstream lines(place / "stops");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "stop")
      stops.emplace_back();
    else
      read_line(words, what, stops.at(stops.size() - 1));
  }
  for (GdbStop& stop : stops) stop.snapshot.stack = stop.stack;
  return stops;
}

}  // namespace lotus::test
