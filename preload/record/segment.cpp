#include "record/segment.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
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
struct Place {
  Room room = Room::little;
  std::uint64_t free = UINT64_MAX;  // bytes; of a file system without limit, too
  bool in_memory = false;           // a tmpfs
};
Place look_at(const char* directory) {
  struct statfs status {};
  if (statfs(directory, &status) != 0) return {};
  Place place;
  place.in_memory = status.f_type == TMPFS_MAGIC;
  const auto block = static_cast<std::uint64_t>(status.f_frsize != 0 ? status.f_frsize : status.f_bsize);
  const std::uint64_t free = status.f_bavail * block;
  if (status.f_blocks != 0) place.free = free;
  place.room = free < std::min<std::uint64_t>(status.f_blocks * block / 4, kLeftToProgram) ? Room::none
               : free < kShortOfSpace                                                      ? Room::little
                                                                                           : Room::plenty;
  return place;
}

constexpr std::uintptr_t kPageBytes = 4096;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14; not in older headers

// Gives pages of a sparse file memory. An errno: here, instead of by SIGBUS at a write, the kernel tells that
// the file system is full. EINVAL: this kernel cannot.
int populate(std::uint8_t* from, std::uint64_t bytes) {
  const int saved = errno;
  const auto begin = reinterpret_cast<std::uintptr_t>(from) & ~(kPageBytes - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(from) + bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  int error = 0;
  do error = madvise(reinterpret_cast<void*>(begin), end - begin, kPopulateWrite) == 0 ? 0 : errno;
  while (error == EINTR);
  errno = saved;
  return error == EFAULT ? ENOSPC : error;
}
bool populate_ring(std::uint8_t* from, std::uint64_t bytes) { return populate(from, bytes) == 0; }

// Where the file has all of its memory: maps it. Other threads may be writing there.
bool touch_ring(std::uint8_t* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += kPageBytes) __atomic_fetch_or(from + at, 0, __ATOMIC_RELAXED);
  return true;
}

// The headers: of the segment, of its threads, of its rings.
int populate_headers(std::uint8_t* base, const Offsets& offsets) {
  int error = populate(base, offsets.rings[0]);
  for (std::uint32_t i = 0; i < kRings && error == 0; ++i)
    error = populate(base + offsets.rings[i], sizeof(RingHeader));
  return error;
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

// A new file of `bytes` bytes, mapped; nullptr with errno set if it cannot be had. `descriptor` is open then.
std::uint8_t* map_new_file(const char* path, std::uint64_t bytes, int& descriptor) {
  if (forbidden_by_limit(bytes)) {
    errno = EFBIG;
    return nullptr;
  }
  descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory != MAP_FAILED) return static_cast<std::uint8_t*>(memory);
  const int error = errno;
  close(descriptor);
  unlink(path);
  errno = error;
  return nullptr;
}

// Created exclusively, and with memory for what is written first: no later write can meet a full disk.
std::uint8_t* make_file(Segment& segment, const char* path, const Offsets& offsets, bool in_memory,
                        int& error) {
  int descriptor = -1;
  std::uint8_t* const base = map_new_file(path, offsets.total, descriptor);
  if (base == nullptr) {
    error = errno;
    return nullptr;
  }
  error = in_memory ? populate_headers(base, offsets) : EINVAL;
  segment.sparse = error == 0;
  if (error == EINVAL) error = posix_fallocate(descriptor, 0, static_cast<off_t>(offsets.total));
  close(descriptor);
  if (error == 0) return base;
  munmap(base, offsets.total);
  unlink(path);
  return nullptr;
}

bool make_sized(Segment& segment, const SegmentOwner& owner, const Sizes& sizes, const Place& place,
                int& error) {
  const Offsets offsets = lay_out(sizes);
  if (place.free < offsets.total) {  // a sparse file could be made, and hardly be filled
    error = ENOSPC;
    return false;
  }
  const ProcessIdentity own = own_identity();
  std::uint8_t* base = nullptr;
  for (unsigned number = 0; base == nullptr && number < kMaxImages; ++number) {
    char(&path)[kPathBytes] = segment.path;
    segment_path(path, owner.directory, own.pid, own.start_time, number);
    base = make_file(segment, path, offsets, place.in_memory, error);
    if (base == nullptr && error != EEXIST) return false;
  }
  if (base == nullptr) return false;
  auto* header = reinterpret_cast<SegmentHeader*>(base);
  fill_header(*header, owner, own, sizes, offsets);
  segment.header = header;
  segment.bytes = offsets.total;
  segment.slots = reinterpret_cast<ThreadSlot*>(base + offsets.slots);
  segment.chunks = base + offsets.chunks;
  const RingWriter::Populate as_needed = segment.sparse ? populate_ring : touch_ring;
  const auto ring = [&](std::uint32_t i) {
    return RingWriter{reinterpret_cast<RingHeader*>(base + offsets.rings[i]), sizes.ring_bytes[i], as_needed};
  };
  segment.definitions = ring(kDefinitionRing);
  segment.events = ring(kEventRing);
  segment.snapshots = ring(kStackRing);
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
  const Place place = look_at(owner.directory);
  int error = ENOSPC;
  if (place.room == Room::plenty && make_sized(segment, owner, kRoomy, place, error)) return Made::yes;
  if (place.room != Room::none && error != EEXIST && make_sized(segment, owner, kTight, place, error))
    return Made::yes;
  std::snprintf(reason, 256, "no shared memory in %.100s: %.60s; set LOTUS_DIR to a directory with room",
                owner.directory, std::strerror(error));
  return error == ENOSPC || error == EDQUOT || error == ENOMEM ? Made::no_room : Made::no;
}

bool populate_chunk(const Segment& segment, std::uint32_t slot) {
  return !segment.sparse || populate(segment.chunk_of(slot), segment.header->chunk_bytes) == 0;
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
