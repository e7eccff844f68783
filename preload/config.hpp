// The LOTUS_* environment variables, read once when recording becomes possible.
#pragma once

#include "session.hpp"

namespace lotus {

// Which of PyTorch's operators are counted inside a pipeline's spans: none, those of the top level in as many
// batches as cost next to nothing, those of the top level in all batches, all.
enum class TorchOpsLevel { off, automatic, top, all };

// What stack samples are taken by; perf's clock only where it is permitted (thread_clock.hpp).
enum class SampleClock { timer, perf };

struct Config {
  const char* output = nullptr;     // LOTUS_OUTPUT; nullptr: named after the program
  const char* directory = nullptr;  // LOTUS_DIR; nullptr: the first usable of the defaults
  const char* log = nullptr;        // LOTUS_LOG; nullptr: no diagnostics but the one line on stderr
  bool autostart = true;            // LOTUS_AUTOSTART
  bool off = false;                 // LOTUS_OFF
  unsigned sample_hz = 199;         // LOTUS_SAMPLE_HZ; 0: no stack sampling
  SampleClock sample_clock = SampleClock::timer;       // LOTUS_SAMPLE_CLOCK
  TorchOpsLevel torch_ops = TorchOpsLevel::automatic;  // LOTUS_TORCH_OPS
  // Copies: programs that change their title write over the environment's memory.
  char output_text[kPathBytes] = {}, directory_text[kPathBytes] = {}, log_text[kPathBytes] = {};
  char complaint[256] = {};  // what was wrong with a name or a value, for the one line; "" if nothing
};

extern Config config;

// Fills `config` from the environment. A value that makes no sense keeps its default; it and a name
// that nobody knows are named in `complaint`.
void read_config();

// Remembers which file the process's stderr is, so that a line never lands in what became of
// descriptor 2 later. Called before the program's own code runs.
void remember_stderr();

// "lotus: ..." as one write to stderr, if descriptor 2 still is what it was at the start. At most one
// such line per process tree is printed: callers see to it.
void say(const char* line);

// A diagnostic line for LOTUS_LOG; nothing without it.
void note(const char* line);

}  // namespace lotus
