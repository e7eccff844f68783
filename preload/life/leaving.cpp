#include "life/leaving.hpp"

#include <unistd.h>

#include "record/process.hpp"

namespace lotus {
namespace {

void say(Life life) {
  SegmentHeader* const header = process.segment.header;
  if (header == nullptr || process.pid != getpid()) return;
  __atomic_store_n(&header->life, static_cast<std::uint64_t>(life), __ATOMIC_RELEASE);
}

}  // namespace

void say_leaving() { say(Life::leaving); }
void say_staying() { say(Life::running); }

}  // namespace lotus
