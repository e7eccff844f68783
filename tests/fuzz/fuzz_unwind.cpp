// A stack snapshot with any registers and any stack, in a process with real libraries loaded.
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
constexpr std::uint64_t kFirst = 0x7f00'0000'0000;  // the modules lie there, this far from each other:
constexpr std::uint64_t kDistance = 0x1000'0000;
constexpr unsigned kTagShift = 56;
constexpr std::uint64_t kStackTag = 0x80;
constexpr unsigned kRenewal = 20'000;  // inputs until what was learned is forgotten

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

struct Fixture {
  Stacks stacks;
  ProcessStacks process{stacks, 1};
  std::vector<std::uint64_t> sizes;

  Fixture() {
    std::uint64_t start = kFirst;
    for (const std::string& path : libraries()) {
      const auto file = ElfFile::open(path);
      if (!file || file->highest_address() > kDistance) continue;
      fuzz::Bytes bytes(encoded_bound<Kind::module>(0u, 0u, 0u, 0u, path, file->build_id()));
      bytes.resize(static_cast<std::size_t>(encode<Kind::module>(bytes.data(), 0, sizes.size() + 1, start,
                                                                 start + file->highest_address(), start, path,
                                                                 file->build_id()) -
                                            bytes.data()));
      process.define(bytes, 1);
      sizes.push_back(file->highest_address());
      start += kDistance;
    }
  }

  // A word with a tag becomes an address: in the stack, or in one of the modules.
  std::uint64_t address(std::uint64_t word) const {
    const std::uint64_t tag = word >> kTagShift;
    if (tag == kStackTag) return kStack + (word & 0x7fff);
    if (tag == 0 || tag > sizes.size()) return word;
    return kFirst + (tag - 1) * kDistance + (word & 0xffff'ffff) % sizes[tag - 1];
  }
};

// So that the counts fit: what follows the header is Python frames and then the stack.
void mend(fuzz::Bytes& payload, const Fixture& fixture) {
  auto header = fuzz::read_at<SnapshotHeader>(payload, 0);
  const std::size_t rest = payload.size() - sizeof header;
  header.python_frames =
      static_cast<std::uint32_t>(std::min<std::size_t>(header.python_frames % 8, rest / 16));
  header.stack_bytes =
      static_cast<std::uint32_t>(std::min<std::size_t>(kMaxStackBytes, rest - header.python_frames * 16));
  payload.resize(sizeof header + header.python_frames * 16 + header.stack_bytes);
  for (std::uint64_t& word : header.registers) word = fixture.address(word);
  header.registers[kRegisterRsp] = kStack;
  header.entry = fixture.address(header.entry);
  fuzz::write_at(payload, 0, header);
  for (std::size_t at = sizeof header; at + 8 <= payload.size(); at += 8)
    fuzz::write_at(payload, at, fixture.address(fuzz::read_at<std::uint64_t>(payload, at)));
}

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
  std::vector<Bytes> all;
  for (std::uint64_t kind = 0; kind < 8; ++kind) {
    Bytes seed(1 + sizeof(SnapshotHeader) + 64 * 8);
    seed[0] = 1;
    for (std::size_t at = 1 + offsetof(SnapshotHeader, registers); at + 8 <= seed.size(); at += 8) {
      const std::uint64_t tag = at % 5 == 0 ? kStackTag : 1 + (kind + at / 8) % 3;
      write_at(seed, at, (tag << kTagShift) + at * 4099 * (kind + 1));
    }
    all.push_back(std::move(seed));
  }
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::unique_ptr<Fixture> fixture;
  static unsigned uses = 0;
  if (!fixture || ++uses % kRenewal == 0) fixture = std::make_unique<Fixture>();
  if (size < 1 + sizeof(SnapshotHeader)) return 0;
  fuzz::Bytes payload(data + 1, data + size);
  if ((data[0] & 1) != 0) mend(payload, *fixture);
  RingRecord record{};
  record.base_ticks = 10;
  const auto taken = fixture->process.take(record, payload, (data[0] & 2) != 0);
  fuzz::promise((data[0] & 1) == 0 || taken != ProcessStacks::Taken::damaged, "a mended snapshot is taken");
  fixture->process.rollback();
  return 0;
}
