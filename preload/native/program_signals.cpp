// The program's own signals beside the sampler's: libc's functions, interposed.
//
// The sampler's signal has the default action as far as the program can see. Whoever sets its action gets it:
// sampling moves to another signal first. The stack that samples are taken on does not exist for it either.
// Whoever waits for every signal does not get ours.
#include <time.h>

#include <cerrno>
#include <cstring>

#include "native/interposed.hpp"
#include "native/waiting.hpp"
#include "sampling/sampler.hpp"
#include "system/alternate_stack.hpp"

namespace lotus {
namespace {

struct Arguments {
  Word at[6];  // 0: the function has not got so many
};

Word run(AnyFunction function, const Arguments& with) {
  return call_function(function, with.at[0], with.at[1], with.at[2], with.at[3], with.at[4], with.at[5]);
}

Word run(AnyFunction function, Word a, Word b, Word c) { return run(function, {{a, b, c, 0, 0, 0}}); }

template <class T>
T* pointer(Word word) {
  return reinterpret_cast<T*>(word);
}

// What is done for a function: Rule::apply(), with its first three arguments or with all of them.
template <class Rule>
struct SignalCall {
  template <Hooked F, class... Words>
  static Word call(const Caller&, Words... words) {
    return with(F, {{words...}});
  }

 private:
  static Word with(Hooked hooked, const Arguments& given) {
    const AnyFunction function = real_function(hooked);
    if (function == nullptr) {  // a libc without it, asked for by dlsym()
      errno = ENOSYS;
      return static_cast<Word>(-1);
    }
    if constexpr (requires { Rule::apply(function, given); })
      return Rule::apply(function, given);
    else
      return Rule::apply(function, given.at[0], given.at[1], given.at[2]);
  }
};

// The rules of the table.
struct action : SignalCall<action> {  // (signal, new action, old action)
  static Word apply(AnyFunction function, Word signal, Word changed, Word old) {
    const bool ours = is_sample_signal(static_cast<int>(signal));
    if (ours && changed != 0) leave_signal();
    struct sigaction without_samples {};
    if (changed != 0) {
      without_samples = *pointer<const struct sigaction>(changed);
      if (keep_samples_out(without_samples)) changed = reinterpret_cast<Word>(&without_samples);
    }
    const Word result = run(function, signal, changed, old);
    if (old == 0 || static_cast<int>(result) != 0) return result;
    if (ours && changed == 0)
      *pointer<struct sigaction>(old) = {};
    else
      hide_sample_signal(*pointer<struct sigaction>(old));
    return result;
  }
};

struct handler : SignalCall<handler> {  // (signal, …)
  static Word apply(AnyFunction function, Word signal, Word b, Word c) {
    if (is_sample_signal(static_cast<int>(signal))) leave_signal();
    return run(function, signal, b, c);
  }
};

struct alternate : SignalCall<alternate> {  // (new stack, old stack)
  static Word apply(AnyFunction function, Word changed, Word old, Word c) {
    const Word result = run(function, changed, old, c);
    if (static_cast<int>(result) != 0) return result;
    if (old != 0 && is_alternate_stack(*pointer<const stack_t>(old))) {
      *pointer<stack_t>(old) = {};
      pointer<stack_t>(old)->ss_flags = SS_DISABLE;
    }
    if (changed != 0 && sampler_wanted) use_alternate_stack(0);  // if it has none now
    return result;
  }
};

timespec after(timespec time, const timespec& wait) {
  time.tv_sec += wait.tv_sec;
  time.tv_nsec += wait.tv_nsec;
  if (time.tv_nsec < 1'000'000'000) return time;
  return {time.tv_sec + 1, time.tv_nsec - 1'000'000'000};
}

timespec until(const timespec& end) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  timespec left{end.tv_sec - now.tv_sec, end.tv_nsec - now.tv_nsec};
  if (left.tv_nsec < 0) left = {left.tv_sec - 1, left.tv_nsec + 1'000'000'000};
  return left.tv_sec < 0 ? timespec{} : left;
}

// Waits like sigtimedwait(), past signals of the sampler. `timeout`: nullptr for ever.
int wait_past_samples(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  timespec end{};
  if (timeout != nullptr) {
    clock_gettime(CLOCK_MONOTONIC, &end);
    end = after(end, *timeout);
  }
  timespec left{};
  for (;;) {
    siginfo_t got{};
    const auto signal = static_cast<int>(run(real_function(hooked_sigtimedwait), reinterpret_cast<Word>(set),
                                             reinterpret_cast<Word>(&got), reinterpret_cast<Word>(timeout)));
    if (signal < 0 || !is_sample(got)) {
      if (signal > 0 && info != nullptr) *info = got;
      return signal;
    }
    if (timeout == nullptr) continue;
    left = until(end);
    timeout = &left;
  }
}

bool waits_for_samples(Word set) {
  const int signal = sample_signal_now();
  return signal != 0 && set != 0 && sigismember(pointer<const sigset_t>(set), signal) == 1;
}

struct wait_number : SignalCall<wait_number> {  // (set, number that came)
  static Word apply(AnyFunction function, Word set, Word number, Word c) {
    if (!waits_for_samples(set)) return run(function, set, number, c);
    const int saved = errno;
    int signal = 0;
    do {
      signal = wait_past_samples(pointer<const sigset_t>(set), nullptr, nullptr);
    } while (signal < 0 && errno == EINTR);
    const int error = errno;
    errno = saved;
    if (signal < 0) return static_cast<Word>(error);
    *pointer<int>(number) = signal;
    return 0;
  }
};

struct wait_info : SignalCall<wait_info> {  // (set, information)
  static Word apply(AnyFunction function, Word set, Word info, Word c) {
    if (!waits_for_samples(set)) return run(function, set, info, c);
    return static_cast<Word>(
        wait_past_samples(pointer<const sigset_t>(set), pointer<siginfo_t>(info), nullptr));
  }
};

struct wait_time : SignalCall<wait_time> {  // (set, information, time)
  static Word apply(AnyFunction function, Word set, Word info, Word time) {
    if (!waits_for_samples(set)) return run(function, set, info, time);
    return static_cast<Word>(wait_past_samples(pointer<const sigset_t>(set), pointer<siginfo_t>(info),
                                               pointer<const timespec>(time)));
  }
};

struct pending : SignalCall<pending> {  // (set that is filled)
  static Word apply(AnyFunction function, Word set, Word b, Word c) {
    const Word result = run(function, set, b, c);
    if (static_cast<int>(result) == 0 && waits_for_samples(set))
      sigdelset(pointer<sigset_t>(set), sample_signal_now());
    return result;
  }
};

struct descriptor : SignalCall<descriptor> {  // (descriptor, set, flags)
  static Word apply(AnyFunction function, Word file, Word set, Word flags) {
    if (!waits_for_samples(set)) return run(function, file, set, flags);
    sigset_t others = *pointer<const sigset_t>(set);
    sigdelset(&others, sample_signal_now());
    return run(function, file, reinterpret_cast<Word>(&others), flags);
  }
};

// These wait with another mask. What is pending of ours, because the program blocks it, stays so.
template <std::size_t Mask, Counted C>
struct masked : SignalCall<masked<Mask, C>> {
  template <Hooked F, class... Words>
  static Word call(const Caller& from, Words... words) {
    return call_waiting(C, from, 0,
                        [&] { return SignalCall<masked<Mask, C>>::template call<F>(from, words...); });
  }
  static Word apply(AnyFunction function, Arguments with) {
    const int signal = sample_signal_now();
    if (signal == 0 || with.at[Mask] == 0) return run(function, with);
    sigset_t mask = *pointer<const sigset_t>(with.at[Mask]);
    sigaddset(&mask, signal);
    with.at[Mask] = reinterpret_cast<Word>(&mask);
    return run(function, with);
  }
};

}  // namespace

LOTUS_INTERPOSE(LOTUS_SIGNAL_HOOKS)

}  // namespace lotus
