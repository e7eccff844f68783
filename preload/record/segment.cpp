#include "record/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <lotus/events.hpp>

#include "system/clock.hpp"
#include "system/files.hpp"
#include "system/identity.hpp"

namespace lotus {
namespace {

struct Sizes {
  std::uint32_t slots, chunk_bytes;
  std::uint64_t ring_bytes[kRings];
};
// In a container's default 64 MiB of /dev/shm, or where space is short, the tensors come first.
constexpr Sizes kRoomy = {kMaxSlots, kMaxChunkBytes, {128 * 1024, 1024 * 1024, 1024 * 1024}};
constexpr Sizes kTight = {8, 16 * 1024, {128 * 1024, 256 * 1024, 128 * 1024}};
constexpr std::uint64_t kShortOfSpace = 256u << 20;
constexpr std::uint64_t kLeftToProgram = std::uint64_t{2} << 30;  // of a small file system: a quarter

constexpr std::uint64_t kHeaderBytes = 4096;
constexpr unsigned kMaxImages = 64;  // programs that one process executes in turn

struct Offsets {
  std::uint64_t slots, chunks, rings[kRings], total;
};
constexpr Offsets lay_out(const Sizes& sizes) {
  Offsets offsets{};
  offsets.slots = kHeaderBytes;
  std::uint64_t at = offsets.slots + sizes.slots * sizeof(ThreadSlot);
  for (std::uint32_t i = 0; i < kRings; ++i) {
    offsets.rings[i] = at;
    at += sizeof(RingHeader) + sizes.ring_bytes[i];
  }
  offsets.chunks = at;
  offsets.total = offsets.chunks + std::uint64_t{sizes.slots} * sizes.chunk_bytes;
  return offsets;
}
static_assert(sizeof(SegmentHeader) <= kHeaderBytes);
static_assert(lay_out(kRoomy).total <= 4u << 20, "the budget of shared memory per process");
static_assert(lay_out(kRoomy).rings[0] % kRingAlign == 0 && lay_out(kRoomy).rings[1] % kRingAlign == 0 &&
              lay_out(kRoomy).rings[2] % kRingAlign == 0);

// Segments that wait for a collector, which may be stopped, never take what the program may need itself.
enum class Room { none, little, plenty };
Room room_in(const char* directory) {
  struct statvfs status {};
  if (statvfs(directory, &status) != 0) return Room::little;
  const std::uint64_t free = status.f_bavail * status.f_frsize;
  if (free < std::min<std::uint64_t>(status.f_blocks * status.f_frsize / 4, kLeftToProgram))
    return Room::none;
  return free < kShortOfSpace ? Room::little : Room::plenty;
}

void fill_header(SegmentHeader& header, const SegmentOwner& owner, const ProcessIdentity& own,
                 const Sizes& sizes, const Offsets& offsets) {
  header.magic = kSegmentMagic;
  header.version = kSegmentVersion;
  header.schema_hash = kSchemaHash;
  header.segment_bytes = offsets.total;
  header.pid = own.pid;
  header.parent_pid = own.parent;
  header.start_time = own.start_time;
  // Unknown where /proc tells of another namespace: the pid above is then the one of that one.
  header.pid_namespace = own.pid == static_cast<std::uint32_t>(getpid()) ? pid_namespace() : 0;
  header.session_pid = owner.session_pid;
  header.session_start_time = owner.session_start_time;
  header.clock_source = clock_source;
  header.tick_shift = kTickShift;
  header.created = clock_pair();
  header.life = static_cast<std::uint64_t>(Life::running);
  header.slot_count = sizes.slots;
  header.chunk_bytes = sizes.chunk_bytes;
  header.slots_offset = offsets.slots;
  header.chunks_offset = offsets.chunks;
  for (std::uint32_t i = 0; i < kRings; ++i) {
    header.ring_offset[i] = offsets.rings[i];
    header.ring_bytes[i] = sizes.ring_bytes[i];
  }
  std::memcpy(header.program, owner.program, sizeof header.program);
  std::memcpy(header.output, owner.output, sizeof header.output);
}

// The kernel would send SIGXFSZ.
bool forbidden_by_limit(std::uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes;
}

// Created exclusively and with its blocks allocated, so that no later write can meet a full disk.
void* map_new_file(const char* path, std::uint64_t bytes, int& error) {
  if (forbidden_by_limit(bytes)) {
    error = EFBIG;
    return nullptr;
  }
  const int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    error = errno;
    return nullptr;
  }
  error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) error = errno;
  }
  close(descriptor);
  if (memory != MAP_FAILED) return memory;
  unlink(path);
  return nullptr;
}

bool make_sized(Segment& segment, const SegmentOwner& owner, const Sizes& sizes, int& error) {
  const Offsets offsets = lay_out(sizes);
  const ProcessIdentity own = own_identity();
  void* memory = nullptr;
  for (unsigned number = 0; memory == nullptr && number < kMaxImages; ++number) {
    char(&path)[kPathBytes] = segment.path;
    segment_path(path, owner.directory, own.pid, own.start_time, number);
    memory = map_new_file(path, offsets.total, error);
    if (memory == nullptr && error != EEXIST) return false;
  }
  if (memory == nullptr) return false;
  auto* base = static_cast<std::uint8_t*>(memory);
  auto* header = reinterpret_cast<SegmentHeader*>(base);
  fill_header(*header, owner, own, sizes, offsets);
  segment.header = header;
  segment.bytes = offsets.total;
  segment.slots = reinterpret_cast<ThreadSlot*>(base + offsets.slots);
  segment.chunks = base + offsets.chunks;
  segment.definitions = {reinterpret_cast<RingHeader*>(base + offsets.rings[0]), sizes.ring_bytes[0]};
  segment.events = {reinterpret_cast<RingHeader*>(base + offsets.rings[1]), sizes.ring_bytes[1]};
  segment.snapshots = {reinterpret_cast<RingHeader*>(base + offsets.rings[2]), sizes.ring_bytes[2]};
  __atomic_store_n(&header->ready, kReady, __ATOMIC_RELEASE);
  return true;
}

}  // namespace

void segment_path(char (&path)[kPathBytes], const char* directory, std::uint32_t pid,
                  std::uint64_t start_time, unsigned number) {
  char tail[16] = "";
  if (number > 0) std::snprintf(tail, sizeof tail, ".%u", number);
  std::snprintf(path, sizeof path, "%.1900s/%u-%llu%s%s", directory, pid,
                static_cast<unsigned long long>(start_time), tail, kSegmentSuffix);
}

Made make_segment(Segment& segment, const SegmentOwner& owner, char* reason) {
  const Room room = room_in(owner.directory);
  int error = ENOSPC;
  if (room == Room::plenty && make_sized(segment, owner, kRoomy, error)) return Made::yes;
  if (room != Room::none && error != EEXIST && make_sized(segment, owner, kTight, error)) return Made::yes;
  std::snprintf(reason, 256, "no shared memory in %.100s: %.60s; set LOTUS_DIR to a directory with room",
                owner.directory, std::strerror(error));
  return error == ENOSPC || error == EDQUOT || error == ENOMEM ? Made::no_room : Made::no;
}

// The collector is told of what changes in the directory.
void call_collector(const Segment& segment) {
  const int saved = errno;
  syscall(SYS_utimensat, AT_FDCWD, segment.path, nullptr, 0);
  errno = saved;
}

void forget_segment(Segment& segment) {
  if (segment.header != nullptr) munmap(segment.header, segment.bytes);
  segment = Segment{};
}

}  // namespace lotus
