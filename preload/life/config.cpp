#include "life/config.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "counters/wanted.hpp"
#include "pipeline/trial.hpp"
#include "system/log.hpp"

namespace lotus {

constinit Config config{};

namespace {

const char* value_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// A copy of the value; nullptr: it is not set.
const char* kept_value_of(const char* name, char (&copy)[kPathBytes]) {
  const char* value = value_of(name);
  if (value == nullptr) return nullptr;
  std::snprintf(copy, sizeof copy, "%s", value);
  return copy;
}

constexpr const char* kNames[] = {
    "LOTUS_OUTPUT",    "LOTUS_DIR",          "LOTUS_LOG",         "LOTUS_AUTOSTART", "LOTUS_OFF",
    "LOTUS_TORCH_OPS", "LOTUS_SAMPLE_CLOCK", "LOTUS_SAMPLE_HZ",   "LOTUS_TRY",       "LOTUS_COUNTERS",
    "LOTUS_STEPS",     "LOTUS_REGION",       "LOTUS_CONTROL_FLOW"};

// At most 40 bytes of a text that may hold anything, as part of one line.
struct Shown {
  Shown(const char* from, std::size_t bytes) {
    std::snprintf(text, sizeof text, "%.*s", static_cast<int>(std::min(bytes, sizeof text - 1)), from);
    for (char* c = text; *c != '\0'; ++c)
      if (static_cast<unsigned char>(*c) < 0x20 || static_cast<unsigned char>(*c) > 0x7e) *c = '?';
  }
  char text[41];
};

[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...) {
  const std::size_t used = std::strlen(config.complaint);
  const std::size_t begin = used == 0 ? 0 : used + 2;
  if (begin >= sizeof config.complaint) return;
  if (used != 0) std::memcpy(config.complaint + used, "; ", 3);
  va_list values;
  va_start(values, format);
  std::vsnprintf(config.complaint + begin, sizeof config.complaint - begin, format, values);
  va_end(values);
}

void complain_of(const char* name, const char* value, const char* expected) {
  complain("%s='%s' is not %s, ignored", name, Shown(value, std::strlen(value)).text, expected);
}

// A name that is misspelt would else leave its writer with a default.
void complain_of_unknown_names() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::size_t bytes = std::strcspn(*entry, "=");
    const auto is_this = [&](const char* name) {
      return std::strlen(name) == bytes && std::memcmp(name, *entry, bytes) == 0;
    };
    if (std::strncmp(*entry, "LOTUS_", 6) == 0 && std::none_of(std::begin(kNames), std::end(kNames), is_this))
      complain("%s is no variable of Lotus, ignored", Shown(*entry, bytes).text);
  }
}

bool read_switch(const char* name, bool fallback) {
  const char* value = value_of(name);
  if (value == nullptr) return fallback;
  if (std::strcmp(value, "0") == 0) return false;
  if (std::strcmp(value, "1") == 0) return true;
  complain_of(name, value, "0 or 1");
  return fallback;
}

unsigned read_number(const char* name, unsigned high, const char* expected, unsigned fallback) {
  const char* value = value_of(name);
  if (value == nullptr) return fallback;
  char* end = nullptr;
  const long number = std::strtol(value, &end, 10);
  if (*end == '\0' && number >= 0 && number <= static_cast<long>(high)) return static_cast<unsigned>(number);
  complain_of(name, value, expected);
  return fallback;
}

TorchOpsLevel read_torch_ops() {
  const char* value = value_of("LOTUS_TORCH_OPS");
  if (value == nullptr || std::strcmp(value, "auto") == 0) return TorchOpsLevel::automatic;
  if (std::strcmp(value, "top") == 0) return TorchOpsLevel::top;
  if (std::strcmp(value, "all") == 0) return TorchOpsLevel::all;
  if (std::strcmp(value, "0") == 0) return TorchOpsLevel::off;
  complain_of("LOTUS_TORCH_OPS", value, "0, auto, top or all");
  return TorchOpsLevel::automatic;
}

RecordedSteps read_steps() {
  const char* value = value_of("LOTUS_STEPS");
  if (value == nullptr || std::strcmp(value, "auto") == 0) return RecordedSteps::automatic;
  if (std::strcmp(value, "all") == 0) return RecordedSteps::all;
  if (std::strcmp(value, "most") == 0) return RecordedSteps::most;
  if (std::strcmp(value, "0") == 0) return RecordedSteps::none;
  complain_of("LOTUS_STEPS", value, "0, auto, most or all");
  return RecordedSteps::automatic;
}

// `Model.forward`, `module.Model.forward`, `function`.
void read_region() {
  const char* value = value_of("LOTUS_REGION");
  if (value == nullptr) return;
  const std::size_t bytes = std::strlen(value);
  const auto is_part = [](char c) {
    return std::isspace(static_cast<unsigned char>(c)) == 0 && c != '/' && c != ':';
  };
  if (bytes >= kRegionNameBytes || value[0] == '.' || value[bytes - 1] == '.' ||
      !std::all_of(value, value + bytes, is_part))
    return complain_of("LOTUS_REGION", value, "a function's qualified name, such as Model.forward");
  if (config.steps == RecordedSteps::none)
    return complain("LOTUS_STEPS=0: no call of %s is recorded", Shown(value, bytes).text);
  std::memcpy(config.region_text, value, bytes + 1);
  config.region = config.region_text;
}

SampleClock read_sample_clock() {
  const char* value = value_of("LOTUS_SAMPLE_CLOCK");
  if (value == nullptr || std::strcmp(value, "timer") == 0) return SampleClock::timer;
  if (std::strcmp(value, "perf") == 0) return SampleClock::perf;
  complain_of("LOTUS_SAMPLE_CLOCK", value, "timer or perf");
  return SampleClock::timer;
}

void read_counters() {
  const char* value = value_of("LOTUS_COUNTERS");
  const char* expected = value != nullptr ? want_counters(value) : nullptr;
  if (expected != nullptr) complain_of("LOTUS_COUNTERS", value, expected);
}

void read_what_to_try() {
  const char* value = value_of("LOTUS_TRY");
  const char* problem = value != nullptr ? read_trial(value) : nullptr;
  if (problem != nullptr)
    complain("LOTUS_TRY='%s' is ignored: %s", Shown(value, std::strlen(value)).text, problem);
}

}  // namespace

void read_config() {
  config = Config{};
  config.output = kept_value_of("LOTUS_OUTPUT", config.output_text);
  config.directory = kept_value_of("LOTUS_DIR", config.directory_text);
  config.log = kept_value_of("LOTUS_LOG", config.log_text);
  config.autostart = read_switch("LOTUS_AUTOSTART", true);
  config.off = read_switch("LOTUS_OFF", false);
  config.torch_ops = read_torch_ops();
  config.steps = read_steps();
  read_region();
  config.control_flow = read_switch("LOTUS_CONTROL_FLOW", false);
  config.sampling.clock = read_sample_clock();
  config.sampling.hz = read_number("LOTUS_SAMPLE_HZ", 4999, "a number from 0 to 4999", config.sampling.hz);
  read_counters();
  read_what_to_try();
  complain_of_unknown_names();
  log_to(config.log);
}

}  // namespace lotus
