// The LOTUS_* environment variables, read once when recording becomes possible.
#pragma once

#include "native/torch_ops.hpp"
#include "operators/regions.hpp"
#include "operators/steps.hpp"
#include "sampling/sampler.hpp"
#include "system/files.hpp"

namespace lotus {

struct Config {
  const char* output = nullptr;     // LOTUS_OUTPUT; nullptr: named after the program
  const char* directory = nullptr;  // LOTUS_DIR; nullptr: the first usable of the defaults
  const char* log = nullptr;        // LOTUS_LOG; nullptr: no diagnostics but the one line on stderr
  bool autostart = true;            // LOTUS_AUTOSTART
  bool off = false;                 // LOTUS_OFF
  Sampling sampling;                // LOTUS_SAMPLE_HZ, LOTUS_SAMPLE_CLOCK
  TorchOpsLevel torch_ops = TorchOpsLevel::automatic;  // LOTUS_TORCH_OPS
  RecordedSteps steps = RecordedSteps::automatic;      // LOTUS_STEPS
  const char* region = nullptr;  // LOTUS_REGION: a function whose calls are recorded in place of steps
  bool control_flow = false;     // LOTUS_CONTROL_FLOW: Python calls in recorded steps, too
  // Copies: programs that change their title write over the environment's memory.
  char output_text[kPathBytes] = {}, directory_text[kPathBytes] = {}, log_text[kPathBytes] = {};
  char region_text[kRegionNameBytes] = {};
  char complaint[256] = {};  // what was wrong with a name or a value, for the one line; "" if nothing
};

extern Config config;

// Fills `config` from the environment. A value that makes no sense keeps its default; it and a name
// that nobody knows are named in `complaint`.
void read_config();

}  // namespace lotus
