// What control flow needs of a function's code: its instructions, lines and names, told once.
#pragma once

#include "operators/own_frames.hpp"

namespace lotus {

// Definition `code_table` of a function that is called or stands still. Its code is kept from then on, so
// that no other one takes its place. Where there is no room now, it is tried again in the next region. With
// the GIL held.
void tell_tables(KnownCode& known, std::uint64_t region);

inline bool tables_are_told(const KnownCode& known) { return known.told == process.generation + 1; }

// Whether a frame whose code is a generator's is that of its body, and not of the call that makes it; and
// whether that is to begin.
bool is_generators(const PythonFrames& layout, std::uint64_t frame);
bool is_at_beginning(const PythonFrames& layout, std::uint64_t frame, const KnownCode& known);

}  // namespace lotus
