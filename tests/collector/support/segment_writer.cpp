#include "support/segment_writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "support/temporary.hpp"

namespace lotus::test {
namespace {

constexpr std::uint32_t kRoomForRecord = 64;

ClockPair clock_now() {
  timespec monotonic{};
  timespec realtime{};
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  clock_gettime(CLOCK_REALTIME, &realtime);
  const auto ns = [](const timespec& t) {
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
  };
  return {ns(monotonic) >> kTickShift, ns(realtime)};
}

std::uint64_t pid_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

void fill(SegmentHeader& header, const SegmentPlan& plan, std::uint64_t bytes) {
  header.magic = kSegmentMagic;
  header.version = kSegmentVersion;
  header.schema_hash = kSchemaHash;
  header.segment_bytes = bytes;
  header.pid = plan.pid;
  header.parent_pid = static_cast<std::uint32_t>(getppid());
  header.start_time = plan.start_time;
  header.pid_namespace = pid_namespace();
  header.session_pid = plan.session_pid != 0 ? plan.session_pid : plan.pid;
  header.session_start_time = plan.session_pid != 0 ? plan.session_start_time : plan.start_time;
  header.clock_source = ClockSource::monotonic;
  header.tick_shift = kTickShift;
  header.created = clock_now();
  std::snprintf(header.program, sizeof header.program, "test");
  std::snprintf(header.output, sizeof header.output, "%s", plan.output.c_str());
}

std::uint64_t lay_out(SegmentHeader& header, const SegmentPlan& plan) {
  header.slot_count = plan.slots;
  header.chunk_bytes = plan.chunk_bytes;
  header.slots_offset = 4096;
  std::uint64_t at = header.slots_offset + std::uint64_t{plan.slots} * sizeof(ThreadSlot);
  for (std::uint32_t i = 0; i < kRings; ++i) {
    header.ring_offset[i] = at;
    header.ring_bytes[i] = plan.ring_bytes[i];
    at += sizeof(RingHeader) + plan.ring_bytes[i];
  }
  header.chunks_offset = at;
  return at + std::uint64_t{plan.slots} * plan.chunk_bytes;
}

}  // namespace

std::uint64_t start_time_of(std::uint32_t pid) {
  const std::string text = read_text("/proc/" + std::to_string(pid) + "/stat");
  const auto close = text.rfind(") ");
  if (close == std::string::npos) return 0;
  std::istringstream fields(text.substr(close + 2));
  const std::vector<std::string> words{std::istream_iterator<std::string>(fields), {}};
  return words.size() > 19 ? std::stoull(words[19]) : 0;
}

std::pair<std::uint32_t, std::uint64_t> dead_process() {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const auto pid = static_cast<std::uint32_t>(child);
  const std::uint64_t start_time = start_time_of(pid);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return {pid, start_time};
}

SegmentWriter::SegmentWriter(const SegmentPlan& asked) {
  SegmentPlan plan = asked;
  if (plan.pid == 0) plan.pid = static_cast<std::uint32_t>(getpid());
  if (plan.start_time == 0) plan.start_time = start_time_of(plan.pid);
  path_ = plan.directory + "/" + std::to_string(plan.pid) + "-" + std::to_string(plan.start_time) +
          kSegmentSuffix;
  SegmentHeader header{};
  bytes_ = lay_out(header, plan);
  const int fd = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || posix_fallocate(fd, 0, static_cast<off_t>(bytes_)) != 0)
    throw std::runtime_error("cannot make " + path_);
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + path_);
  header_ = static_cast<SegmentHeader*>(memory);
  fill(header, plan, bytes_);
  std::memcpy(header_, &header, sizeof header);
  __atomic_store_n(&header_->ready, kReady, __ATOMIC_RELEASE);
}

SegmentWriter::~SegmentWriter() { munmap(header_, bytes_); }

ThreadSlot& SegmentWriter::slot(std::uint32_t index) {
  return reinterpret_cast<ThreadSlot*>(reinterpret_cast<std::uint8_t*>(header_) +
                                       header_->slots_offset)[index];
}

std::uint8_t* SegmentWriter::chunk(std::uint32_t index) {
  return reinterpret_cast<std::uint8_t*>(header_) + header_->chunks_offset +
         std::uint64_t{index} * header_->chunk_bytes;
}

RingHeader& SegmentWriter::ring(RingIndex index) {
  return *reinterpret_cast<RingHeader*>(reinterpret_cast<std::uint8_t*>(header_) +
                                        header_->ring_offset[index]);
}

RingWriter SegmentWriter::writer(RingIndex index) { return {&ring(index), header_->ring_bytes[index]}; }

bool SegmentWriter::define(std::uint64_t id, std::string_view name, std::uint64_t ticks) {
  std::uint8_t bytes[1024];
  const std::uint8_t* end = encode<Kind::op_def>(bytes, 0, id, OpRole::transform, name, name, "file.py", 1u);
  RingRecord record{};
  record.kind = RingKind::chunk;
  record.events = 1;
  record.base_ticks = ticks;
  record.raw_bytes = record.stored_bytes = static_cast<std::uint32_t>(end - bytes);
  return writer(kDefinitionRing).push(record, bytes).payload != nullptr;
}

ThreadWriter::ThreadWriter(SegmentWriter& segment, std::uint32_t slot, std::uint32_t stream)
    : segment_(segment),
      slot_(segment.slot(slot)),
      chunk_(segment.chunk(slot)),
      cursor_(chunk_),
      ticks_(segment.header().created.ticks),
      last_(ticks_) {
  slot_.stream = stream;
  slot_.tid = stream;
  __atomic_store_n(&slot_.state, 1, __ATOMIC_RELEASE);
  start_chunk();
}

void ThreadWriter::start_chunk() {
  __atomic_store_n(&slot_.used, 0, __ATOMIC_RELEASE);
  ++slot_.sequence;
  slot_.base_ticks = last_ = ticks_;
  slot_.events = 0;
  cursor_ = chunk_;
}

void ThreadWriter::record(std::uint64_t serial) {
  if (cursor_ + kRoomForRecord > chunk_ + segment_.header().chunk_bytes) flush();
  const std::uint64_t now = next_ticks();
  cursor_ = encode<Kind::bytes>(cursor_, now - last_, serial);
  last_ = now;
  __atomic_store_n(&slot_.used, static_cast<std::uint32_t>(cursor_ - chunk_), __ATOMIC_RELEASE);
  ++slot_.events;
}

bool ThreadWriter::push() {
  std::vector<std::uint8_t> packed(ZSTD_compressBound(segment_.header().chunk_bytes));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), chunk_, static_cast<std::size_t>(cursor_ - chunk_), 1);
  RingRecord record{};
  record.kind = RingKind::chunk;
  record.codec = Codec::zstd;
  record.stream = slot_.stream;
  record.sequence = slot_.sequence;
  record.base_ticks = slot_.base_ticks;
  record.lost_before = slot_.lost_before;
  record.events = slot_.events;
  record.raw_bytes = static_cast<std::uint32_t>(cursor_ - chunk_);
  record.stored_bytes = static_cast<std::uint32_t>(size);
  return segment_.writer(kEventRing).push(record, packed.data()).payload != nullptr;
}

void ThreadWriter::flush() {
  while (!push()) sleep_ms(1);
  start_chunk();
}

void ThreadWriter::flush_half() {
  while (!push()) sleep_ms(1);
}

bool ThreadWriter::try_flush() {
  const bool pushed = push();
  if (pushed) {
    slot_.lost_before = 0;
  } else {
    slot_.lost_before += slot_.events;
    __atomic_fetch_add(&segment_.header().lost_events, slot_.events, __ATOMIC_RELAXED);
    __atomic_fetch_add(&segment_.header().lost_chunks, 1, __ATOMIC_RELAXED);
  }
  start_chunk();
  return pushed;
}

std::vector<std::uint8_t> encode_serials(const std::vector<std::uint64_t>& serials) {
  std::vector<std::uint8_t> bytes(serials.size() * (1 + 2 * kMaxVarint));
  std::uint8_t* end = bytes.data();
  for (const std::uint64_t serial : serials) end = encode<Kind::bytes>(end, 10, serial);
  bytes.resize(static_cast<std::size_t>(end - bytes.data()));
  return bytes;
}

}  // namespace lotus::test
