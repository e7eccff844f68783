// Counters of an operation or a fetch: what they said where it began and where it ended.
#pragma once

#include "counters/wanted.hpp"
#include "record/chunk.hpp"

namespace lotus {

struct Span;

// Reads the counters for the span that this thread opens next: count_in() it then.
void begin_counts();

// leave() of this span, which is the innermost, will record what was counted since begin_counts().
void count_in(const Span& span);

// The same since now.
void count_from_here(const Span& span);

// For close_at(): records what the innermost open span counted.
void write_counts(Thread& thread, std::uint64_t now);

// In a forked child: the parent's events are not ours.
void forget_counts();

}  // namespace lotus
