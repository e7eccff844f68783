#include "native/torch_ops.hpp"

#include <cstring>
#include <iterator>

#include "native/hooks.hpp"
#include "native/torch_library.hpp"
#include "system/clock.hpp"

namespace lotus {
namespace {

constinit TorchOpsLevel chosen_level = TorchOpsLevel::automatic;

// Operators by name. Names are looked up by what they say: an operator's own string may move.
struct Operator {
  const char* name;  // published last
  std::uint32_t hash;
  HookId hook;
};
constexpr std::uint32_t kOperators = 1024;
constinit Operator operators[kOperators] = {};
constinit char operator_names[32 * 1024] = {};
constinit std::size_t operator_names_used = 0;

// By the address of a name, the operator that was last found for it.
constinit const Operator* last_at[256] = {};

// Operators under way in this thread.
struct Running {
  OpenCall call;  // without a total: not counted
  std::uint64_t begin;
};
constexpr std::uint32_t kMaxNested = 16;
struct Nesting {
  std::uint32_t depth;
  bool observed;        // our callback is among this thread's
  std::uint64_t calls;  // of operator_starts(), since then
  Running running[kMaxNested];
};
constinit thread_local Nesting nesting{};

// PyTorch itself takes an eighth of a microsecond for each observed operator, nested ones too, which can be
// more than all else together. Where this would be felt, one batch in a few is observed, and the rest is
// spared.
constexpr std::uint64_t kOperatorNs = 400;    // with what it drives out of the caches, see bench/parts
constexpr std::uint64_t kMostOfBatch = 5000;  // a fifth of a thousandth of the time
constexpr std::uint64_t kMostSpared = 128;    // batches in a row, about
struct Sparing {
  std::uint64_t iterator;  // whose batches these are: another one's may be quite different
  std::uint64_t left;      // batches to spare
  std::uint64_t random;
};
constinit thread_local Sparing sparing{};

// Whether the next batch of this iterator is to be spared.
bool spare_batch(std::uint64_t iterator) {
  if (sparing.iterator != iterator) sparing = {iterator, 0, sparing.random};
  if (sparing.left == 0) return false;
  --sparing.left;
  return true;
}

// A batch was observed. The distance to the next one varies, lest it keep step with something in the data.
void plan_sparing(std::uint64_t ticks, std::uint64_t calls) {
  const std::uint64_t cost = calls * kOperatorNs * ticks_per_second() / 1'000'000'000u;
  const std::uint64_t one_in = ticks == 0 ? 1 : (cost * kMostOfBatch + ticks - 1) / ticks;
  if (one_in <= 1) return;
  const std::uint64_t mean = (one_in < kMostSpared ? one_in : kMostSpared) - 1;
  sparing.random = sparing.random * 6364136223846793005u + 1442695040888963407u;
  sparing.left = mean - mean / 2 + (sparing.random >> 33) % (mean / 2 * 2 + 1);
}

std::uint32_t hash_of(const char* text) {
  std::uint32_t hash = 0x811c9dc5;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x01000193;
  return hash;
}

const Operator* add_operator(Operator& entry, const char* name, std::uint32_t hash) {
  const std::size_t size = std::strlen(name) + 1;
  const std::size_t at = __atomic_fetch_add(&operator_names_used, size, __ATOMIC_RELAXED);
  if (at + size > sizeof operator_names) return nullptr;
  std::memcpy(operator_names + at, name, size);
  // Two threads that meet in one entry: the one that comes second uses the next entry.
  std::uint32_t none = 0;
  if (!__atomic_compare_exchange_n(&entry.hash, &none, hash, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return nullptr;
  entry.hook = add_hook(name, torch.library);
  __atomic_store_n(&entry.name, operator_names + at, __ATOMIC_RELEASE);
  return &entry;
}

const Operator* find_operator(const char* name) {
  const std::uint32_t hash = hash_of(name) | 1;
  for (std::uint32_t probe = 0; probe < 32; ++probe) {
    Operator& entry = operators[(hash / 2 + probe) % kOperators];
    const std::uint32_t known = __atomic_load_n(&entry.hash, __ATOMIC_ACQUIRE);
    if (known == 0) return add_operator(entry, name, hash);
    if (known != hash) continue;
    const char* text = __atomic_load_n(&entry.name, __ATOMIC_ACQUIRE);
    if (text != nullptr && std::strcmp(text, name) == 0) return &entry;
  }
  return nullptr;
}

// Most names come from where one came from before.
HookId hook_of(const char* name) {
  const Operator*& last = last_at[reinterpret_cast<std::uintptr_t>(name) / 16 % std::size(last_at)];
  const Operator* const known = __atomic_load_n(&last, __ATOMIC_ACQUIRE);
  if (known != nullptr && std::strcmp(known->name, name) == 0) [[likely]]
    return known->hook;
  const Operator* const found = find_operator(name);
  if (found == nullptr) return 0;
  __atomic_store_n(&last, found, __ATOMIC_RELEASE);
  return found->hook;
}

void count_start(const void* function) {
  Nesting& nested = nesting;
  ++nested.calls;
  const std::uint32_t level = nested.depth++;
  if (level >= kMaxNested) return;
  Running& running = nested.running[level];
  running.call.total = nullptr;
  Thread* thread = counting_thread();
  if (thread == nullptr || (level > 0 && chosen_level != TorchOpsLevel::all)) return;
  const HookId hook = hook_of(torch.name(function));
  if (hook == 0) return;
  running.call = count_call(*thread, hook);
  running.begin = ticks_now();
}

ObserverContext operator_starts(const void* function) {
  count_start(function);
  return {};
}

void operator_ends(const void*, void*) {
  Nesting& nested = nesting;
  if (nested.depth == 0 || --nested.depth >= kMaxNested) return;
  const Running& running = nested.running[nested.depth];
  if (running.call.total == nullptr) return;
  count_return(running.call, ticks_now() - running.begin, 0);
}

}  // namespace

HookId hook_of_operator(const char* name) { return hook_of(name); }

void choose_torch_ops(TorchOpsLevel level) { chosen_level = level; }

TorchOps::TorchOps(std::uint64_t iterator) {
  if (chosen_level == TorchOpsLevel::off || process.off) return;
  nesting.depth = 0;  // one that began here may have ended in another thread
  if (nesting.observed) return;
  if (!find_torch()) return;
  const bool automatic = chosen_level == TorchOpsLevel::automatic;
  spared_ = automatic && spare_batch(iterator);
  if (spared_) return;
  OperatorObserver observer{operator_starts, operator_ends, 1.0, {true}, false, false, false};
  handle_ = torch.add(observer);
  generation_ = process.generation;
  nesting.observed = true;
  nesting.calls = 0;
  if (automatic) start_ = ticks_now();
}

TorchOps::~TorchOps() {
  if (handle_ == 0 || generation_ != process.generation) return;
  // What adding and removing costs is nothing to a batch; in the training process it keeps the training step
  // free of us.
  if (process.worker && start_ == 0) return;
  torch.remove(handle_);
  nesting.observed = false;
  if (start_ != 0) plan_sparing(ticks_now() - start_, nesting.calls);
}

void find_torch_ops() {
  if (chosen_level != TorchOpsLevel::off && !process.off) find_torch();
}

}  // namespace lotus
