// A stack snapshot with arbitrary registers and stack, in a process with real libraries, or with modules that
// the input defines.
#include <link.h>

#include <fstream>
#include <iterator>

#include "fuzz.hpp"
#include "stacks/process_stacks.hpp"
#include "support/snapshots.hpp"

using namespace lotus;
using namespace lotus::collector;

namespace {

constexpr std::uint64_t kStack = 0x7ffd'0000'0000;
constexpr std::uint64_t kFirst = 0x7f00'0000'0000;  // address of the first module
constexpr std::uint64_t kDistance = 0x1000'0000;    // between modules
constexpr unsigned kTagShift = 56;
constexpr std::uint64_t kStackTag = 0x80;
constexpr unsigned kRenewal = 20'000;  // inputs until the cached rules and stacks are discarded

std::vector<std::string> libraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        if (info->dlpi_name[0] == '/')
          static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

// Bits of the first byte of an input.
enum Mode : std::uint8_t {
  kMended = 1,
  kMayWait = 2,
  kDefinitions = 4,  // the snapshot follows their length (two bytes) and definitions
};

template <Kind K, class... Values>
void append(fuzz::Bytes& to, const Values&... values) {
  const std::size_t size = to.size();
  to.resize(size + encoded_bound<K>(values...));
  to.resize(static_cast<std::size_t>(encode<K>(to.data() + size, 1, values...) - to.data()));
}

struct Fixture {
  Stacks stacks;
  ProcessStacks process{stacks, 1};
  std::vector<std::uint64_t> sizes;
  fuzz::Bytes modules;  // definitions of the real libraries

  Fixture() {
    std::uint64_t start = kFirst;
    for (const std::string& path : libraries()) {
      const auto file = ElfFile::open(path);
      if (!file || file->highest_address() > kDistance) continue;
      append<Kind::module>(modules, sizes.size() + 1, start, start + file->highest_address(), start, path,
                           file->build_id());
      sizes.push_back(file->highest_address());
      start += kDistance;
    }
    process.define(modules, 1);
  }

  // Turns a tagged word into an address in the stack or in a module.
  std::uint64_t address(std::uint64_t word) const {
    const std::uint64_t tag = word >> kTagShift;
    if (tag == kStackTag) return kStack + (word & 0x7fff);
    if (tag == 0 || tag > sizes.size()) return word;
    return kFirst + (tag - 1) * kDistance + (word & 0xffff'ffff) % sizes[tag - 1];
  }
};

// Makes the counts in the header match the payload: Python frames and then the stack.
void mend(fuzz::Bytes& payload, const Fixture& fixture) {
  auto header = fuzz::read_at<SnapshotHeader>(payload, 0);
  header.machine = header.machine == Machine::aarch64 ? Machine::aarch64 : Machine::x86_64;
  const Registers numbers = registers_of(header.machine);
  const std::size_t head = sizeof header + numbers.count * sizeof(std::uint64_t);
  payload.resize(std::max(payload.size(), head));
  const std::size_t rest = payload.size() - head;
  header.python_frames =
      static_cast<std::uint32_t>(std::min<std::size_t>(header.python_frames % 8, rest / 16));
  header.stack_bytes =
      static_cast<std::uint32_t>(std::min<std::size_t>(kMaxStackBytes, rest - header.python_frames * 16));
  const std::size_t end = head + header.python_frames * 16 + header.stack_bytes;
  payload.resize(end);
  const std::uint64_t pointer = kStack + header.stack_start % (2 * kRedZoneBytes);
  header.stack_start = kStack;
  header.entry = fixture.address(header.entry);
  fuzz::write_at(payload, 0, header);
  for (std::size_t at = sizeof header; at + 8 <= payload.size(); at += 8)
    fuzz::write_at(payload, at, fixture.address(fuzz::read_at<std::uint64_t>(payload, at)));
  fuzz::write_at(payload, sizeof header + numbers.stack_pointer * sizeof pointer, pointer);
  if ((header.flags & kCarriesCounts) == 0) return;
  const std::uint64_t counts = header.weight % (kMaxCounters + 1);
  payload.resize(end + sizeof counts + counts * sizeof(SnapshotCount));
  fuzz::write_at(payload, end, counts);
}

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
  std::vector<Bytes> all;
  for (std::uint64_t kind = 0; kind < 8; ++kind) {
    Bytes seed(1 + sizeof(SnapshotHeader) + (kMaxRegisters + 64) * 8);
    if (kind % 2 == 1) write_at(seed, 1 + offsetof(SnapshotHeader, machine), Machine::aarch64);
    seed[0] = 1;
    for (std::size_t at = 1 + sizeof(SnapshotHeader); at + 8 <= seed.size(); at += 8) {
      const std::uint64_t tag = at % 5 == 0 ? kStackTag : 1 + (kind + at / 8) % 3;
      write_at(seed, at, (tag << kTagShift) + at * 4099 * (kind + 1));
    }
    all.push_back(std::move(seed));
  }
  const std::size_t plain = all.size();
  Bytes definitions = Fixture().modules;
  append<Kind::code>(definitions, 1u, "function", "file.py", 1u);
  append<Kind::module_gone>(definitions, 2u);
  append<Kind::module>(definitions, 9u, kFirst + kDistance, kFirst + 2 * kDistance, kFirst, "/none.so", "00");
  for (std::size_t i = 0; i < plain; ++i) {
    Bytes seed = all[i];
    seed[0] |= kDefinitions;
    const auto size = static_cast<std::uint16_t>(definitions.size());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&size);
    const auto at = seed.insert(seed.begin() + 1, bytes, bytes + sizeof size) + sizeof size;
    seed.insert(at, definitions.begin(), definitions.end());
    all.push_back(std::move(seed));
  }
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::unique_ptr<Fixture> fixture;
  static unsigned uses = 0;
  if (!fixture || ++uses % kRenewal == 0) fixture = std::make_unique<Fixture>();
  if (size < 1) return 0;
  const std::uint8_t mode = data[0];
  fuzz::Bytes payload(data + 1, data + size);
  ProcessStacks own(fixture->stacks, 1);
  if ((mode & kDefinitions) != 0) {
    const auto bytes = std::min<std::size_t>(fuzz::read_at<std::uint16_t>(payload, 0) + 2, payload.size());
    if (bytes > 2) own.define({payload.data() + 2, bytes - 2}, 1);
    payload.erase(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  if (payload.size() < sizeof(SnapshotHeader)) return 0;
  if ((mode & kMended) != 0) mend(payload, *fixture);
  ProcessStacks& process = (mode & kDefinitions) != 0 ? own : fixture->process;
  RingRecord record{};
  record.base_ticks = 10;
  const auto taken = process.take(record, payload, (mode & kMayWait) != 0);
  fuzz::promise((mode & kMended) == 0 || taken != ProcessStacks::Taken::damaged,
                "a mended snapshot is taken");
  process.rollback();
  return 0;
}
