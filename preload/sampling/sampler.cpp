#include "sampling/sampler.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <lotus/snapshot.hpp>

#include "python/collecting.hpp"
#include "python/frame_chain.hpp"
#include "python/known_calls.hpp"
#include "python/python_calls.hpp"
#include "record/counts.hpp"
#include "record/recorder.hpp"
#include "sampling/modules.hpp"
#include "sampling/thread_timers.hpp"
#include "system/alternate_stack.hpp"
#include "system/clock.hpp"
#include "system/hot.hpp"
#include "system/log.hpp"
#include "system/signal_actions.hpp"
#include "system/signal_mask.hpp"
#include "system/thread_id.hpp"
#include "system/uncancelled.hpp"

namespace lotus {

constinit bool sampler_wanted = false;
LOTUS_HOT constinit std::uint64_t next_poll = UINT64_MAX;
LOTUS_HOT constinit std::uint64_t least_wait = UINT64_MAX;
constinit thread_local std::uintptr_t snapshot_at = 0;
LOTUS_HOT constinit std::uintptr_t snapshot_elsewhere_at = 0;

#if defined(__x86_64__) || defined(__aarch64__)

namespace {

// A poll takes a tenth of a millisecond, more where the kernel's part is cold.
constexpr std::uint64_t kPollsPerSecond = 1;
constexpr std::uint64_t kWaitsPerSecond = 100;  // at most, of a thread: each takes 10 ms or longer
constexpr int kAttempts = 50;                   // of a thread that begins, to get at the timers
constexpr std::uintptr_t kPageBytes = 4096;
constexpr std::uint64_t kPreparedAhead = 8 * kPageBytes;
constexpr std::uint32_t kEnoughIdleBytes = 1024;  // of a stack outside of operations
static_assert(kMaxIdleStackBytes >= kPageBytes, "the rest of a page fits");

constinit Sampling sampling{};
constinit int sample_signal = 0;
constinit const SampleTimer* timer_kind = &kCpuTimer;
constinit std::uint64_t period_ns = 0;
constinit std::uint64_t poll_after_ticks = 0;
constinit bool changing = false;
constinit bool told_of_refusal = false;
constinit pid_t owner = 0;                   // the process that took the signal
constinit thread_local int held_signal = 0;  // blocked by hold_samples()

// What the handler knows of the thread that it interrupted.
struct Subject {
  std::uint32_t tid = 0;
  std::uint32_t stream = 0;
  std::uint32_t op = 0;
  std::uint32_t flags = 0;
  std::uintptr_t entry = 0;  // in this thread's stack
};

Subject identify_subject() {
  const Thread* own = this_thread.generation == process.generation ? this_thread.recorder : nullptr;
  if (own != nullptr) {
    const OpenOperation open = innermost_operation(*own);
    return {own->slot->tid, own->slot->stream, open.definition, 0, open.entry};
  }
  // A thread pool's thread: it works for the one operation that is open in the process, if it is just one.
  const std::uint32_t op = only_open_operation();
  return {own_tid(), 0, op, op != 0 ? kOnBehalf : 0, 0};
}

// What is recorded of a thread, and with which registers.
struct Moment {
  std::uint32_t weight = 0;
  HookId hook = 0;  // 0: a sample of CPU time; else this function has waited
  std::uint64_t waited = 0;
  std::uintptr_t caller = 0;
  std::uint64_t registers[kOwnRegisters.count] = {};
};

// registers_here(): those of the function that it is inlined into. What that called may have used the others.
#if defined(__x86_64__)

void copy_registers(std::uint64_t* target, const ucontext_t& context) {
  constexpr int kOrder[kOwnRegisters.count] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                               REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                               REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  for (const int number : kOrder) *target++ = static_cast<std::uint64_t>(context.uc_mcontext.gregs[number]);
}

[[gnu::always_inline]] inline void registers_here(std::uint64_t* target) {
  asm volatile(
      "mov %%rbx, 24(%0)\n mov %%rbp, 48(%0)\n mov %%rsp, 56(%0)\n mov %%r12, 96(%0)\n"
      "mov %%r13, 104(%0)\n mov %%r14, 112(%0)\n mov %%r15, 120(%0)\n"
      "lea 0(%%rip), %%rcx\n mov %%rcx, 128(%0)"
      :
      : "a"(target)
      : "rcx", "memory");
}

#else

void copy_registers(std::uint64_t* target, const ucontext_t& context) {
  constexpr std::size_t kGeneral = std::size(mcontext_t{}.regs);
  static_assert(kGeneral == kOwnRegisters.stack_pointer);
  std::memcpy(target, context.uc_mcontext.regs, sizeof context.uc_mcontext.regs);
  target[kOwnRegisters.stack_pointer] = context.uc_mcontext.sp;
  target[kOwnRegisters.program_counter] = context.uc_mcontext.pc;
}

[[gnu::always_inline]] inline void registers_here(std::uint64_t* target) {
  asm volatile(
      "stp x19, x20, [%0, #152]\n stp x21, x22, [%0, #168]\n stp x23, x24, [%0, #184]\n"
      "stp x25, x26, [%0, #200]\n stp x27, x28, [%0, #216]\n stp x29, x30, [%0, #232]\n"
      "mov x10, sp\n str x10, [%0, #248]\n adr x10, .\n str x10, [%0, #256]"
      :
      : "r"(target)
      : "x10", "memory");
}

#endif

// Python calls between the stack pointer and `end`. An entry that is not where one can be, or does not know
// its own address, ends the list: something jumped over the calls that would have taken it off.
std::uint32_t copy_calls(PythonFrame* frames, std::uint32_t most, std::uintptr_t from, std::uintptr_t end) {
  std::uint32_t count = 0;
  for (const PythonCall* call = python_thread.calls; count < most; call = call->up) {
    const auto address = reinterpret_cast<std::uintptr_t>(call);
    if (address < from || address >= end || call->self != call) break;
    if (call->code != 0) frames[count++] = {address, call->code, 0};
    from = address + 1;
  }
  return count;
}

std::uint32_t pipeline_flags() {
  if (python_thread.context == nullptr) return 0;
  const Collecting collecting = is_collecting();
  if (collecting == Collecting::unknown) return kMakesBatch;
  return kMakesBatch | kTellsCollecting | (collecting == Collecting::yes ? kCollecting : 0);
}

// Up to where this thread's stack is asked for while a batch is being made, but outside of operations: the
// innermost context, which may have been left (see mark_unbalanced()), so that only its address is used.
std::uintptr_t begin_of_batch(std::uintptr_t stack) {
  constexpr std::uintptr_t kCallerBytes =
      1024;  // of the handler that opened it, and of the call that it handles
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(python_thread.context) + kCallerBytes;
  const bool is_here = begin > stack + kCallerBytes && begin - stack < kMaxStackBytes - kPageBytes;
  return is_here && in_own_stack(stack) ? begin : 0;
}

constexpr std::uint32_t kUnhookedBytes = FrameMemory::kPageBytes + kMaxPythonFrames * sizeof(ChainedFrame);

// What runs without our evaluator in this thread, if anything does.
UnhookedCall* unhooked_call(std::uintptr_t from, std::uintptr_t end) {
  UnhookedCall* const call = python_thread.unhooked;
  const auto address = reinterpret_cast<std::uintptr_t>(call);
  const bool is_one = address >= from && address < end && call->self == call;
  const Context* const context = python_thread.context;
  return is_one && context != nullptr && context->serial == python_thread.context_serial ? call : nullptr;
}

// The Python functions in it, as far as they are known: innermost of all. `buffer`: kUnhookedBytes.
std::uint32_t copy_unhooked(PythonFrame* frames, std::uint32_t most, UnhookedCall& call, std::uint8_t* buffer,
                            std::uintptr_t from, std::uintptr_t end) {
  FrameMemory memory(buffer, from, end);
  auto* const chained = reinterpret_cast<ChainedFrame*>(buffer + FrameMemory::kPageBytes);
  const std::size_t found = frames_below(call, memory, chained, most);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < found; ++i) {
    const KnownCall known = known_calls.find(chained[i].code);
    if (!known.plays_no_role_in(*python_thread.context)) call.met_others = true;
    if (known.name() != 0) frames[count++] = {chained[i].address, known.name(), kInEvaluator};
  }
  return count;
}

// Copies the stack. Up to the operation's entry it is all there, and to the end of the page where this is the
// thread's own; elsewhere the kernel copies what is mapped, which takes 2 µs.
std::uint32_t copy_stack(std::uint8_t* target, std::uintptr_t from, std::uint32_t bytes, bool certain) {
  if (certain) {
    std::memcpy(target, reinterpret_cast<const void*>(from), bytes);
    return bytes;
  }
  const iovec to{target, bytes};
  const iovec source{reinterpret_cast<void*>(from), bytes};
  const long copied = syscall(SYS_process_vm_readv, getpid(), &to, 1, &source, 1, 0);
  return copied > 0 ? static_cast<std::uint32_t>(copied) : 0;
}

// Behind the stack: 0 bytes if there are none.
std::uint32_t append_counts(std::uint8_t* to) {
  CountsSince since;
  if (!counts_since_sample(*this_thread.recorder, since)) return 0;
  const std::uint64_t count = since.count;
  std::memcpy(to, &count, sizeof count);
  std::memcpy(to + sizeof count, since.of, since.count * sizeof(SnapshotCount));
  return static_cast<std::uint32_t>(sizeof count + since.count * sizeof(SnapshotCount));
}

// `at`: in the innermost function of those that are asked for.
void take_snapshot(const Moment& moment, std::uintptr_t at) {
  SegmentHeader* const segment = process.segment.header;
  if (process.off || segment == nullptr) return;
  RingRecord record{};
  record.base_ticks = ticks_now();
  const Subject subject = identify_subject();
  const auto stack = static_cast<std::uintptr_t>(moment.registers[kOwnRegisters.stack_pointer]);
  const auto red_zone = std::min(stack % kPageBytes, std::uintptr_t{kRedZoneBytes});
  const std::uintptr_t start = stack - red_zone;  // in the stack pointer's page, which is there
  const bool inside = subject.entry > stack;
  const std::uintptr_t depth = inside ? subject.entry - start : 0;
  const bool whole = inside && depth <= kMaxStackBytes;
  const auto rest_of_page = static_cast<std::uint32_t>(kPageBytes - stack % kPageBytes);
  const bool is_wait = moment.hook != 0;  // which are few
  const bool outside = subject.op == 0 && !is_wait;
  const std::uintptr_t begin = outside ? begin_of_batch(stack) : 0;
  const bool enough = outside && begin == 0 && rest_of_page >= kEnoughIdleBytes && in_own_stack(stack);
  const auto wanted = static_cast<std::uint32_t>(whole                        ? depth
                                                 : begin != 0                 ? begin - start
                                                 : enough                     ? rest_of_page + red_zone
                                                 : subject.op != 0 || is_wait ? kMaxStackBytes
                                                                              : kMaxIdleStackBytes);
  constexpr std::uint32_t kHeadBytes = sizeof(SnapshotHeader) + kOwnRegisters.count * sizeof(std::uint64_t);
  constexpr std::uint32_t kPythonBytes = kMaxPythonFrames * sizeof(PythonFrame);
  const std::uintptr_t end = inside ? subject.entry : start + wanted;
  UnhookedCall* const unhooked = unhooked_call(stack, end);
  const std::uint32_t scratch =
      unhooked != nullptr ? kUnhookedBytes : 0;  // where the stack is copied to later
  const bool counts = counters_on && subject.stream != 0 && !is_wait;
  const std::uint32_t reserved =
      kHeadBytes + kPythonBytes + std::max(wanted, scratch) + (counts ? kMaxCountBytes : 0);
  const RingWriter::Room room = process.segment.snapshots.reserve(reserved);
  if (room.payload == nullptr) {
    __atomic_fetch_add(&segment->lost_snapshots, 1, __ATOMIC_RELAXED);
    return;
  }
  auto* const header = reinterpret_cast<SnapshotHeader*>(room.payload);
  header->tid = subject.tid;
  header->op = subject.op;
  header->flags = subject.flags | (inside && !whole ? kCutStack : 0) | pipeline_flags();
  header->weight = moment.weight;
  header->entry = inside ? subject.entry : 0;
  header->stack_start = start;
  header->waited = moment.waited;
  header->hook = moment.hook;
  header->caller = moment.caller;
  header->machine = kOwnRegisters.machine;
  auto* const registers = reinterpret_cast<std::uint64_t*>(header + 1);
  std::memcpy(registers, moment.registers, sizeof moment.registers);
  auto* const frames = reinterpret_cast<PythonFrame*>(registers + kOwnRegisters.count);
  std::uint32_t named = 0;
  if (unhooked != nullptr) {
    auto* const buffer = reinterpret_cast<std::uint8_t*>(frames + kMaxPythonFrames);
    named = copy_unhooked(frames, kMaxPythonFrames, *unhooked, buffer, stack, end);
  }
  header->python_frames = named + copy_calls(frames + named, kMaxPythonFrames - named, stack, end);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(frames + header->python_frames);
  header->stack_bytes = copy_stack(bytes, start, wanted, whole || enough || begin != 0);
  const std::uint32_t count_bytes = counts ? append_counts(bytes + header->stack_bytes) : 0;
  if (count_bytes != 0) header->flags |= kCarriesCounts;
  record.kind = RingKind::snapshot;
  record.codec = Codec::raw;
  record.stream = subject.stream;
  record.events = 1;
  record.stored_bytes = record.raw_bytes =
      static_cast<std::uint32_t>(bytes - room.payload) + header->stack_bytes + count_bytes;
  process.segment.snapshots.commit(room, record, reserved);
  if (room.call) call_collector(process.segment);
  (subject.stream != 0 ? snapshot_at : snapshot_elsewhere_at) = at;
  __atomic_fetch_add(&segment->flush_ticks, ticks_now() - record.base_ticks, __ATOMIC_RELAXED);
}

// The kind of timer that sent a signal; nullptr: somebody else did.
const SampleTimer* sender(const siginfo_t& info) {
  if (timer_kind->sent(info)) return timer_kind;
  return kCpuTimer.sent(info) ? &kCpuTimer : nullptr;  // it stands in where perf's is refused
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const SampleTimer* const timer = sender(*info);
  if (timer == nullptr) return end_by_signal(signal);  // the program has no handler
  const int saved = errno;
  Moment moment;
  moment.weight = timer->periods(*info, period_ns);
  copy_registers(moment.registers, *static_cast<const ucontext_t*>(context));
  take_snapshot(moment, static_cast<std::uintptr_t>(moment.registers[kOwnRegisters.program_counter]));
  errno = saved;
}

// The handlers that the program has set so far.
void keep_samples_out_of_handlers() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (signal != sample_signal && real_sigaction(signal, nullptr, &action) == 0 && keep_samples_out(action))
      real_sigaction(signal, &action, nullptr);
  }
}

// An emulator (qemu-user) lets programs handle more signals than it has.
bool timer_can_send(int signal) {
  const std::uintptr_t timer = kCpuTimer.start(static_cast<int>(own_tid()), signal, period_ns);
  if (timer == 0) return errno != EINVAL;
  kCpuTimer.stop(timer);
  return true;
}

int take_signal_of_timers() {
  int signal = take_real_time_signal(on_signal, SIGRTMAX - 1, 0);
  while (signal != 0 && !timer_can_send(signal)) {
    give_back_signal(signal);
    signal = signal > SIGRTMIN ? take_real_time_signal(on_signal, signal - 1, signal) : 0;
  }
  return signal;
}

// A signal that the program has no use for, and the timer that can send it.
void choose_signal() {
  if (sampling.clock == SampleClock::perf) {
    timer_kind = &kPerfTimer;
    sample_signal = SIGSTKFLT;  // which nothing on this architecture sends
    if (perf_timer_is_permitted() && take_signal(sample_signal, on_signal)) return;
    note("perf's clock is not permitted, or SIGSTKFLT is in use: stacks are sampled by timers");
  }
  timer_kind = &kCpuTimer;
  sample_signal = take_signal_of_timers();
}

// Held while the signal or the timers are changed. A handler of the program that ran here could wait for it
// in vain: signals are blocked.
class Change {
 public:
  enum class How : std::uint8_t { wait, attempt };
  explicit Change(How how) {
    sigset_t all;
    sigfillset(&all);
    set_signal_mask(SIG_SETMASK, &all, &saved_);
    while (__atomic_test_and_set(&changing, __ATOMIC_ACQUIRE)) {
      if (how == How::attempt) return;
      sched_yield();
    }
    held_ = true;
  }
  ~Change() {
    if (held_) __atomic_clear(&changing, __ATOMIC_RELEASE);
    set_signal_mask(SIG_SETMASK, &saved_, nullptr);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  explicit operator bool() const { return held_; }

 private:
  Uncancelled uncancelled_;
  sigset_t saved_;
  bool held_ = false;
};

sigset_t only(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

void tell_of_refusal() {
  const TimersRefused refused = timers_refused();
  if (refused.error == 0 || told_of_refusal) return;
  note("no timers for stack sampling: raise the limit of pending signals (ulimit -i)");
  told_of_refusal = define<Kind::timers_refused>(static_cast<std::uint64_t>(refused.error), refused.limit);
}

void stop_sampling(const char* why) {
  disarm_threads();
  snapshots_on = false;
  next_poll = least_wait = UINT64_MAX;
  note(why);
}

}  // namespace

void want_samples(const Sampling& settings) {
  sampling = settings;
  if (sampling.hz == 0) return;
  begin_alternate_stacks();
  use_alternate_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  sampler_wanted = true;
}

void start_sampler() {
  if (sampling.hz == 0) return;
  const Change change(Change::How::wait);
  owner = getpid();
  period_ns = 1'000'000'000 / sampling.hz;
  if (sample_signal == 0 || !has_signal(sample_signal, on_signal)) {
    choose_signal();
    keep_samples_out_of_handlers();  // those that are set later keep them out by themselves, also of children
  }
  if (sample_signal == 0) {
    note("no signal is free for stack sampling");
    return;
  }
  define<Kind::sampling>(
      sampling.hz, period_ns,
      static_cast<std::uint64_t>(timer_kind == &kPerfTimer ? SampleSource::perf : SampleSource::cpu_timer));
  process.segment.snapshots.prepare(kPreparedAhead);
  known_calls.clear();  // their names were not needed so far
  snapshots_on = true;
  poll_after_ticks = ticks_per_second() / kPollsPerSecond;
  next_poll = ticks_now() + poll_after_ticks;
  least_wait = ticks_per_second() / kWaitsPerSecond;
  define_modules();
  arm_threads(*timer_kind, sample_signal, period_ns);
  tell_of_refusal();
}

void poll_now(std::uint64_t now) {
  if (!snapshots_on) return;
  next_poll = now + poll_after_ticks;
  process.segment.snapshots.prepare(kPreparedAhead);
  define_modules();  // takes long: a thread that begins meanwhile need not wait for it
  const Change change(Change::How::attempt);
  if (!change || !snapshots_on) return;
  if (process.off || !has_signal(sample_signal, on_signal))
    return stop_sampling("stack sampling ended: the program took the signal");
  arm_threads(*timer_kind, sample_signal, period_ns);
  tell_of_refusal();
}

void sample_this_thread() {
  for (int attempt = 0; snapshots_on && !process.off && attempt < kAttempts; ++attempt) {
    const Change change(Change::How::attempt);
    if (!change) {
      sched_yield();
      continue;
    }
    if (snapshots_on && has_signal(sample_signal, on_signal))
      arm_thread(static_cast<int>(own_tid()), *timer_kind, sample_signal, period_ns);
    return;
  }
}

void record_wait(HookId hook, std::uint64_t ticks, std::uintptr_t frame, std::uintptr_t at) {
  if (!snapshots_on) return;
  Moment moment;
  moment.hook = hook;
  moment.waited = ticks;
  moment.caller = frame;
  registers_here(moment.registers);
  take_snapshot(moment, at);
}

int sample_signal_now() {
  const int signal = sample_signal;
  return signal != 0 && owner == static_cast<pid_t>(syscall(SYS_getpid)) ? signal : 0;
}

bool keep_samples_out(struct sigaction& action) {
  const int signal = sample_signal;
  const bool is_handler = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
  if (signal == 0 || !is_handler || (action.sa_flags & SA_ONSTACK) == 0 ||
      sigismember(&action.sa_mask, signal) == 1)
    return false;
  sigaddset(&action.sa_mask, signal);
  return true;
}

void hide_sample_signal(struct sigaction& action) {
  if (sample_signal != 0 && (action.sa_flags & SA_ONSTACK) != 0) sigdelset(&action.sa_mask, sample_signal);
}

bool is_sample(const siginfo_t& info) { return is_sample_signal(info.si_signo) && sender(info) != nullptr; }

void leave_signal() {
  const int saved = errno;
  {
    const Change change(Change::How::wait);
    const int left = sample_signal;
    if (left != 0) {
      disarm_threads();
      give_back_signal(left);
      timer_kind = &kCpuTimer;
      sample_signal = snapshots_on ? take_real_time_signal(on_signal, left - 1, left) : 0;
      if (snapshots_on && sample_signal == 0) {
        stop_sampling("stack sampling ended: the program took every signal");
      } else if (snapshots_on) {
        keep_samples_out_of_handlers();
        arm_threads(*timer_kind, sample_signal, period_ns);
      }
    }
  }
  errno = saved;
}

void stop_for_exec() {
  if (!is_sample_signal(sample_signal)) return;  // a child of vfork
  const Change change(Change::How::attempt);
  if (!change) return;
  disarm_threads();
  const sigset_t set = only(sample_signal);
  const timespec now{};
  while (syscall(SYS_rt_sigtimedwait, &set, nullptr, &now, sizeof(std::uint64_t)) > 0) continue;
}

void explain_snapshots() {
  // A handler that met fresh pages would take ten times as long. Not all of them at once: a worker that lives
  // for two batches needs a few. Without a sampler there may be no ring: a forked child inherits what is to
  // be explained.
  if (snapshots_on) process.segment.snapshots.prepare(kPreparedAhead);
  for (std::uintptr_t* at : {&snapshot_at, &snapshot_elsewhere_at}) {
    if (*at != 0) define_module_at(*at);
    *at = 0;
  }
}

void hold_samples() {
  held_signal = sample_signal;
  if (held_signal == 0) return;
  sigset_t before;
  const sigset_t set = only(held_signal);
  set_signal_mask(SIG_BLOCK, &set, &before);
  if (sigismember(&before, held_signal) == 1) held_signal = 0;  // the program blocks it anyway
}

void resume_samples() {
  if (held_signal == 0) return;
  const sigset_t set = only(held_signal);
  set_signal_mask(SIG_UNBLOCK, &set, nullptr);
}

void forget_sampler() {
  snapshots_on = false;
  next_poll = least_wait = UINT64_MAX;
  changing = false;
  told_of_refusal = false;
  owner = getpid();
  if (sampler_wanted) begin_alternate_stacks();
  forget_timers();
  forget_modules();
}

#else

void want_samples(const Sampling&) {}
void start_sampler() {}
void poll_now(std::uint64_t) {}
void explain_snapshots() {}
void hold_samples() {}
void resume_samples() {}
void forget_sampler() {}
int sample_signal_now() { return 0; }
bool keep_samples_out(struct sigaction&) { return false; }
void hide_sample_signal(struct sigaction&) {}
bool is_sample(const siginfo_t&) { return false; }
void leave_signal() {}
void sample_this_thread() {}
void record_wait(HookId, std::uint64_t, std::uintptr_t, std::uintptr_t) {}
void stop_for_exec() {}

#endif

}  // namespace lotus
