// Calls that wait. One made inside of a fetch that was off the CPU for 10 ms or more is recorded with the
// stack that it was made from: a thread that sleeps is sampled by nothing.
#pragma once

#include <cerrno>
#include <cstdint>

#include "native/hooks.hpp"
#include "native/interposed.hpp"
#include "sampling/sampler.hpp"
#include "system/clock.hpp"

namespace lotus {

// A call that is being made.
class Waiting {
 public:
  // `bytes`: that the call is to move. To copy many takes CPU time, which is no waiting.
  explicit Waiting(std::uint64_t bytes) : cpu_ns_(bytes < kManyBytes ? 0 : cpu_ns()), begin_(ticks_now()) {}
  // It returned. Ticks that it took; errno is left as it is.
  std::uint64_t end(Counted hook, const Caller& from) const {
    const std::uint64_t took = ticks_now() - begin_;
    if (took >= least_wait) [[unlikely]]
      note(hook, from, took);
    return took;
  }

 private:
  // Copied in about a millisecond.
  static constexpr std::uint64_t kManyBytes = std::uint64_t{4} << 20;

  [[gnu::cold]] void note(Counted hook, const Caller& from, std::uint64_t took) const;

  std::uint64_t cpu_ns_;  // 0: not asked for
  std::uint64_t begin_;
};

// Calls a function that may wait.
template <class Call>
[[gnu::always_inline]] inline Word call_waiting(Counted hook, const Caller& from, std::uint64_t bytes,
                                                Call&& call) {
  if (counting_thread() == nullptr) [[likely]]
    return call();
  const Waiting waiting(bytes);
  const Word result = call();
  waiting.end(hook, from);
  return result;
}

}  // namespace lotus
