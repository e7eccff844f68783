#include "record/reopened.hpp"

#include <cstring>

#include "record/recorder.hpp"
#include "system/hash.hpp"

namespace lotus {
namespace {

constexpr std::size_t kFiles = 16;
constexpr std::size_t kPathBytes = 512;  // longer ones are cut where they are told
constexpr std::uint64_t kFewOpens = 4;   // told from twice as many on: most files are opened once or twice

struct File {
  std::uint64_t opens, bytes;
  std::uint64_t told;  // opens, when it was recorded
  std::uint64_t last;  // when it was opened last, counted in opens of all files
  std::uint32_t size;  // of the path
  char path[kPathBytes];
};

// Of one thread. Only that thread and its signal handlers touch it; `busy` keeps these out.
struct Files {
  std::uint32_t generation, stream;  // whose it is; a fork or another thread begins it anew
  bool busy;
  std::uint32_t current;  // the file that was opened last
  std::uint64_t opens;
  std::uint32_t hashes[kFiles];
  File files[kFiles];
};
constinit Files tables[kMaxSlots] = {};

Files& files_of(const Thread& thread) { return tables[&thread - &thread_of(0)]; }

bool is_of(const Files& files, const Thread& thread) {
  return files.generation == process.generation && files.stream == thread.slot->stream;
}

// The path's place, else that of the least often opened file, the one that was not opened for longest.
std::uint32_t place_of(const Files& files, std::string_view path, std::uint32_t hash) {
  std::uint32_t least = 0;
  for (std::uint32_t i = 0; i < kFiles; ++i) {
    const File& file = files.files[i];
    if (files.hashes[i] == hash && file.opens > 0 && file.size == path.size()) return i;
    const File& other = files.files[least];
    if (file.opens < other.opens || (file.opens == other.opens && file.last < other.last)) least = i;
  }
  return least;
}

void add(Files& files, std::string_view path) {
  const std::uint32_t hash = hash_text(path);
  const std::uint32_t place = place_of(files, path, hash);
  File& file = files.files[place];
  const bool known = file.opens > 0 && files.hashes[place] == hash && file.size == path.size();
  if (!known) {
    file.opens = file.bytes = file.told = 0;
    file.size = static_cast<std::uint32_t>(path.size());
    files.hashes[place] = hash;
    std::memcpy(file.path, path.data(), path.size() < kPathBytes ? path.size() : kPathBytes);
  }
  ++file.opens;
  file.last = ++files.opens;
  files.current = place;
}

void tell(bool all) {
  Thread* thread = this_thread.recorder;
  if (thread == nullptr || this_thread.generation != process.generation || process.off) return;
  Files& files = files_of(*thread);
  if (!is_of(files, *thread)) return;
  for (File& file : files.files) {
    const std::uint64_t before = file.told > kFewOpens ? file.told : kFewOpens;
    const bool more = all ? file.opens > file.told && file.opens > 1 : file.opens >= 2 * before;
    if (!more) continue;
    file.told = file.opens;
    const std::size_t size = file.size < kPathBytes ? file.size : kPathBytes;
    point<Kind::reopened>(file.opens, file.bytes, std::string_view(file.path, size));
  }
}

}  // namespace

void count_opened(Thread& thread, std::string_view path, std::uintptr_t handle) {
  Files& files = files_of(thread);
  if (!is_of(files, thread)) {
    std::memset(&files, 0, sizeof files);
    files.generation = process.generation;
    files.stream = thread.slot->stream;
  }
  if (files.busy) return;
  files.busy = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  add(files, path);
  thread.opened_handle = handle;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  files.busy = false;
}

void count_reread(Thread& thread, std::uint64_t bytes) {
  Files& files = files_of(thread);
  if (!files.busy && is_of(files, thread)) files.files[files.current].bytes += bytes;
}

void tell_reopened() { tell(false); }
void tell_all_reopened() { tell(true); }

}  // namespace lotus
