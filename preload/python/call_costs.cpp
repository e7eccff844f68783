#include "python/call_costs.hpp"

#include "record/recorder.hpp"

namespace lotus {

LOTUS_HOT constinit CallCosts call_costs{};

void tell_calls_inside() {
  const std::uint64_t calls = python_thread.calls_inside;
  python_thread.calls_inside = 0;
  point<Kind::python_calls>(calls, calls * call_costs.inside_ps / 1000);
}

void forget_calls_before() { python_thread.calls_outside = 0; }

void tell_calls_outside() {
  const std::uint64_t calls = python_thread.calls_outside;
  if (calls < kFewCalls) return;
  python_thread.calls_outside = 0;
  point<Kind::python_calls>(calls, calls * call_costs.outside_ps / 1000);
}

}  // namespace lotus
