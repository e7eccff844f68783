#include "support/snapshots.hpp"

#include <elf.h>
#include <link.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace lotus::test {
namespace {

// Copies up to copy.size() mapped bytes from `from`. Uses a system call, which sanitizers do not check.
void copy_stack(std::uint64_t from, std::vector<std::uint8_t>& copy) {
  const iovec to{copy.data(), copy.size()};
  const iovec source{reinterpret_cast<void*>(from), copy.size()};
  const long copied = syscall(SYS_process_vm_readv, getpid(), &to, 1L, &source, 1L, 0L);
  copy.resize(copied > 0 ? static_cast<std::size_t>(copied) : 0);
}

struct Loaded {
  std::uint64_t start = UINT64_MAX, end = 0, bias = 0;
  std::string path, build_id;
};

std::string hex_build_id(const std::uint8_t* at, const std::uint8_t* end) {
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const std::uint8_t* body = at + sizeof note + ((note.n_namesz + 3) & ~3u);
    if (note.n_type == NT_GNU_BUILD_ID) {
      std::string text;
      for (unsigned i = 0; i < note.n_descsz; ++i)
        for (const unsigned digit : {body[i] >> 4, body[i] & 15}) text += "0123456789abcdef"[digit];
      return text;
    }
    at = body + ((note.n_descsz + 3) & ~3u);
  }
  return {};
}

int collect(dl_phdr_info* info, std::size_t, void* result) {
  auto& all = *static_cast<std::vector<Loaded>*>(result);
  Loaded loaded;
  loaded.bias = info->dlpi_addr;
  loaded.path = all.empty() ? "/proc/self/exe" : info->dlpi_name;
  if (all.empty()) {
    char program[4096];
    const ssize_t size = readlink("/proc/self/exe", program, sizeof program);
    loaded.path.assign(program, size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const std::uint64_t start = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) {
      loaded.start = std::min(loaded.start, start);
      loaded.end = std::max(loaded.end, start + header.p_memsz);
    } else if (header.p_type == PT_NOTE && loaded.build_id.empty()) {
      const auto* notes = reinterpret_cast<const std::uint8_t*>(start);
      loaded.build_id = hex_build_id(notes, notes + header.p_memsz);
    }
  }
  all.push_back(loaded);
  return 0;
}

}  // namespace

void SnapshotParts::end_at(const void* entry) {
  header.entry = reinterpret_cast<std::uint64_t>(entry);
  const std::uint64_t depth = header.entry - header.stack_start;
  if (depth < stack.size()) stack.resize(depth);
}

std::vector<std::uint8_t> SnapshotParts::bytes() const {
  SnapshotHeader out = header;
  out.python_frames = static_cast<std::uint32_t>(python.size());
  out.stack_bytes = static_cast<std::uint32_t>(stack.size());
  out.machine = kOwnRegisters.machine;
  std::vector<std::uint8_t> all(sizeof out + sizeof registers + python.size() * sizeof(PythonFrame) +
                                stack.size());
  std::memcpy(all.data(), &out, sizeof out);
  std::memcpy(all.data() + sizeof out, registers.data(), sizeof registers);
  std::uint8_t* at = all.data() + sizeof out + sizeof registers;
  if (!python.empty()) std::memcpy(at, python.data(), python.size() * sizeof(PythonFrame));
  if (!stack.empty()) std::memcpy(at + python.size() * sizeof(PythonFrame), stack.data(), stack.size());
  return all;
}

void take_snapshot(const ucontext_t& context, SnapshotParts& parts) {
  constexpr int kOrder[kOwnRegisters.count] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                               REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                               REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  parts.header.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  parts.header.weight = 1;
  for (std::size_t i = 0; i < kOwnRegisters.count; ++i)
    parts.registers[i] = static_cast<std::uint64_t>(context.uc_mcontext.gregs[kOrder[i]]);
  const std::uint64_t pointer = parts.registers[kOwnRegisters.stack_pointer];
  parts.header.stack_start = pointer - std::min<std::uint64_t>(pointer % 4096, kRedZoneBytes);
  copy_stack(parts.header.stack_start, parts.stack);
}

SnapshotParts snapshot_of(const ucontext_t& context, std::uint32_t max_bytes) {
  SnapshotParts parts;
  parts.stack.resize(max_bytes);
  take_snapshot(context, parts);
  return parts;
}

SnapshotParts snapshot_here(std::uint32_t max_bytes) {
  // The caller's registers at the call of this function.
  ucontext_t context{};
  const auto* frame = static_cast<const std::uint64_t*>(__builtin_frame_address(0));
  getcontext(&context);
  context.uc_mcontext.gregs[REG_RBP] = static_cast<greg_t>(frame[0]);
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(frame[1] - 1);
  context.uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(frame + 2);
  return snapshot_of(context, max_bytes);
}

bool push_snapshot(SegmentWriter& segment, const std::vector<std::uint8_t>& bytes, std::uint64_t ticks) {
  RingRecord record{};
  record.kind = RingKind::snapshot;
  record.base_ticks = ticks;
  record.events = 1;
  record.raw_bytes = record.stored_bytes = static_cast<std::uint32_t>(bytes.size());
  return segment.writer(kStackRing).push(record, bytes.data()).payload != nullptr;
}

void ModuleTeller::tell(SegmentWriter& segment, std::uint64_t ticks) {
  std::vector<Loaded> all;
  dl_iterate_phdr(collect, &all);
  std::set<std::string> present;
  for (const Loaded& loaded : all) {
    const std::string key = std::to_string(loaded.bias) + " " + loaded.path;
    present.insert(key);
    if (loaded.end == 0 || told_.contains(key)) continue;
    told_[key] = ++last_;
    push_definition<Kind::module>(segment, ticks, last_, loaded.start, loaded.end, loaded.bias, loaded.path,
                                  loaded.build_id);
  }
  std::erase_if(told_, [&](const auto& module) {
    if (present.contains(module.first)) return false;
    push_definition<Kind::module_gone>(segment, ticks, module.second);
    return true;
  });
}

}  // namespace lotus::test
