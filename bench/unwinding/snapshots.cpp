// The collector's cost of stack snapshots of real processes: unwinding, storing, naming.
//
//   bench-snapshots DIR [ROUNDS]     DIR: segments of traced programs without a collector (LOTUS_AUTOSTART=0)
//
// Prints lines of `name value`. Does not change the segments, so it can be repeated.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <lotus/ring.hpp>
#include <stdexcept>

#include "names/namer.hpp"
#include "stacks/process_stacks.hpp"

using namespace lotus;
using namespace lotus::collector;

namespace {

struct Piece {
  RingRecord record;
  std::vector<std::uint8_t> payload;
};

struct Recorded {
  std::uint32_t pid = 0;
  std::uint64_t created = 0;  // ticks
  std::vector<Piece> definitions, snapshots;
};

std::vector<Piece> read_ring(std::uint8_t* segment, const SegmentHeader& header, RingIndex index) {
  std::vector<Piece> pieces;
  RingReader ring(reinterpret_cast<RingHeader*>(segment + header.ring_offset[index]),
                  header.ring_bytes[index]);
  Piece piece{};
  const std::uint8_t* payload = nullptr;
  while (ring.next(piece.record, payload) == RingReader::Next::record) {
    piece.payload.assign(payload, payload + piece.record.stored_bytes);
    pieces.push_back(piece);
    ring.release(piece.record);
  }
  return pieces;
}

Recorded read_segment(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || fstat(fd.get(), &status) != 0) throw std::runtime_error(path + ": cannot be read");
  const auto size = static_cast<std::size_t>(status.st_size);
  // A private mapping: the reader moves the ring's tail, but not in the file.
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd.get(), 0);
  if (size < sizeof(SegmentHeader) || memory == MAP_FAILED) throw std::runtime_error(path + ": no segment");
  auto* segment = static_cast<std::uint8_t*>(memory);
  const auto& header = *static_cast<const SegmentHeader*>(memory);
  if (header.magic != kSegmentMagic || header.version != kSegmentVersion)
    throw std::runtime_error(path + ": a segment of another version");
  Recorded recorded{header.pid, header.created.ticks, read_ring(segment, header, kDefinitionRing),
                    read_ring(segment, header, kStackRing)};
  munmap(memory, size);
  return recorded;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Costs {
  double unwinding_first = 0, unwinding = 0, taking_first = 0, taking = 0, writing = 0,
         naming = 0;  // seconds
  std::size_t frames = 0, file_bytes = 0;
};

// Measures unwinding alone.
void unwind_all(const std::vector<Recorded>& processes, Costs& costs) {
  Binaries binaries;
  Unwinder unwinder(binaries);
  costs.frames = 0;
  ModuleHistories histories;
  for (const Recorded& process : processes) {
    Modules modules(binaries, histories, {process.pid, process.created});
    for (const Piece& piece : process.definitions) {
      const std::uint8_t* at = piece.payload.data();
      Record record;
      while ((at = decode(at, piece.payload.data() + piece.payload.size(), record)) != nullptr)
        if (Modules::is_about_modules(record.kind))
          modules.define(record, piece.record.base_ticks, process.pid);
    }
    for (double* cost : {&costs.unwinding_first, &costs.unwinding}) {
      const auto begin = std::chrono::steady_clock::now();
      for (const Piece& piece : process.snapshots) {
        const auto snapshot = parse_snapshot(piece.payload);
        if (!snapshot) throw std::runtime_error("a damaged snapshot");
        modules.look_at(piece.record.base_ticks);
        costs.frames += unwinder.unwind(*snapshot, modules).frames.size();
      }
      *cost += seconds_since(begin);
    }
  }
}

// Measures all processing of snapshots while the program runs, then naming.
void store_all(const std::vector<Recorded>& processes, Costs& costs, Log& log) {
  Stacks stacks;
  Packer packer;
  char path[] = "/tmp/bench-snapshots-XXXXXX";
  TraceFile file(Fd(mkostemp(path, O_CLOEXEC)), path, 0, {});
  unlink(path);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    ProcessStacks process(stacks, processes[i].pid, processes[i].created);
    for (const Piece& piece : processes[i].definitions)
      process.define(piece.payload, piece.record.base_ticks);
    for (double* cost : {&costs.taking_first, &costs.taking}) {
      process.rollback();
      const auto begin = std::chrono::steady_clock::now();
      for (const Piece& piece : processes[i].snapshots) process.take(piece.record, piece.payload, false);
      *cost += seconds_since(begin);
    }
    const auto begin = std::chrono::steady_clock::now();
    process.write(file, packer, static_cast<std::uint32_t>(i + 1), 0);
    if (!file.write_batch()) throw std::runtime_error("/tmp: cannot be written");
    process.commit();
    costs.writing += seconds_since(begin);
  }
  const auto begin = std::chrono::steady_clock::now();
  name_locations(stacks, log);
  stacks.store.write(file, packer, 0);
  if (!file.write_batch()) throw std::runtime_error("/tmp: cannot be written");
  costs.naming += seconds_since(begin);
  costs.file_bytes = file.bytes();
}

double median(const std::vector<Costs>& all, double Costs::*cost) {
  std::vector<double> values;
  values.reserve(all.size());
  for (const Costs& costs : all) values.push_back(costs.*cost);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const std::string& directory, int rounds) {
  std::vector<Recorded> processes;
  std::size_t snapshots = 0;
  std::size_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == kSegmentSuffix) {
      processes.push_back(read_segment(entry.path()));
      snapshots += processes.back().snapshots.size();
      for (const Piece& piece : processes.back().snapshots) bytes += piece.payload.size();
    }
  // A process before those that it forked, which refer to what it defined.
  std::sort(processes.begin(), processes.end(),
            [](const Recorded& a, const Recorded& b) { return a.created < b.created; });
  if (snapshots == 0) throw std::runtime_error(directory + ": no snapshots in any segment");
  Log log("", Log::Where::nowhere, true);
  std::vector<Costs> all;
  for (int round = 0; round < rounds; ++round) {
    Costs& costs = all.emplace_back();
    unwind_all(processes, costs);
    store_all(processes, costs, log);
  }
  const auto count = static_cast<double>(snapshots);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto each = [&](const char* name, double Costs::*cost) {
    fmt::print("{} {:.2f}\n", name, median(all, cost) / count * 1e6);
  };
  fmt::print("processes {}\nsnapshots {}\nbytes_per_snapshot {:.0f}\nframes_per_snapshot {:.1f}\n",
             processes.size(), snapshots, static_cast<double>(bytes) / count,
             static_cast<double>(all[0].frames) / 2 / count);
  each("unwind_first_us", &Costs::unwinding_first);
  each("unwind_us", &Costs::unwinding);
  each("unwind_and_store_first_us", &Costs::taking_first);
  each("unwind_and_store_us", &Costs::taking);
  each("write_us", &Costs::writing);
  fmt::print("file_bytes_per_snapshot {:.1f}\nname_ms {:.1f}\npeak_rss_mib {:.1f}\n",
             static_cast<double>(all[0].file_bytes) / count, median(all, &Costs::naming) * 1e3,
             static_cast<double>(usage.ru_maxrss) / 1024);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) {
    std::fputs("usage: bench-snapshots DIR [ROUNDS]\n", stderr);
    return 2;
  }
  measure(arguments[1], count > 2 ? std::max(1, std::atoi(arguments[2])) : 15);
  return 0;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "bench-snapshots: %s\n", failure.what());
  return 1;
}
