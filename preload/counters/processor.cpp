#include "counters/processor.hpp"

#include <cstdio>

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstring>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace lotus {
namespace {

struct Asked {
  bool done;
  char vendor[16];
  std::uint64_t family, model;
};
constinit Asked asked{};

#if defined(__x86_64__)
// Intel SDM, volume 2, CPUID; AMD's manual has the same.
void ask() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return;
  const unsigned text[] = {b, d, c};
  std::memcpy(asked.vendor, text, sizeof text);
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return;
  asked.family = a >> 8 & 0xf;
  asked.model = a >> 4 & 0xf;
  if (asked.family == 6 || asked.family == 15) asked.model |= (a >> 16 & 0xf) << 4;
  if (asked.family == 15) asked.family += a >> 20 & 0xff;
}
#elif defined(__aarch64__)
// The kernel lets programs read MIDR_EL1 where it says so
// (Documentation/arch/arm64/cpu-feature-registers.rst).
void ask() {
  constexpr unsigned long kReadable = 1ul << 11;  // HWCAP_CPUID
  if ((getauxval(AT_HWCAP) & kReadable) == 0) return;
  std::uint64_t midr = 0;
  __asm__("mrs %0, MIDR_EL1" : "=r"(midr));
  std::snprintf(asked.vendor, sizeof asked.vendor, "0x%02x", static_cast<unsigned>(midr >> 24 & 0xff));
  asked.model = midr >> 4 & 0xfff;
}
#else
void ask() {}
#endif

}  // namespace

ProcessorId this_processor() {
  if (!asked.done) ask();
  asked.done = true;
  return {asked.vendor, asked.family, asked.model};
}

}  // namespace lotus
