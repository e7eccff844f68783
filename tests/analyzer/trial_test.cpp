// What LOTUS_TRY can ask for, as a question to the replay and back.
#include <doctest/doctest.h>

#include "answers/report/trial.hpp"

using namespace lotus::analyzer;

namespace {

Recording recorded(std::uint64_t workers) {
  Recording recording;
  recording.torch = "2.10.1+cpu";
  recording.loader.workers = workers;
  recording.loader.prefetch = workers > 0 ? 2 : 0;
  return recording;
}

// What the settings become that a question asks for.
std::string tried(const Recording& recording, const char* question) {
  return settings_to_try(recording, settings_of(recording, question_of(question).value()));
}

}  // namespace

TEST_CASE("a question of settings and back") {
  const auto all = "num_workers=8,prefetch_factor=4,persistent_workers=1,pin_memory=1,in_order=0";
  CHECK(tried(recorded(2), all) == all);
  CHECK(tried(recorded(2), "num_workers=2") == "");
  CHECK(tried(recorded(0), "num_workers=3") == "num_workers=3");
}

TEST_CASE("what needs workers goes with them") {
  Recording recording = recorded(2);
  recording.loader.persistent = true;
  CHECK(tried(recording, "num_workers=0") == "num_workers=0,prefetch_factor=none,persistent_workers=0");
  CHECK(tried(recorded(0), "persistent_workers=1") == "");
}

TEST_CASE("workers of loaders that are made anew cannot be kept") {
  Recording recording = recorded(2);
  recording.loader.made = 3;
  CHECK(tried(recording, "num_workers=4,persistent_workers=1") == "num_workers=4");
}

TEST_CASE("in_order only where PyTorch has it") {
  for (const auto& [torch, settings] :
       {std::pair("2.6.0", "in_order=0"), std::pair("2.5.1", ""), std::pair("1.13.0a0", ""),
        std::pair("", ""), std::pair("3.0", "in_order=0")}) {
    Recording recording = recorded(2);
    recording.torch = torch;
    CHECK(tried(recording, "in_order=0") == settings);
  }
}

TEST_CASE("threads are not replayed") {
  CHECK_FALSE(question_of("num_workers=2,threads=1"));
  CHECK(question_of(""));
  CHECK(question_of("num_workers=0,prefetch_factor=none"));
}

TEST_CASE("what came is as predicted inside the interval") {
  TrialOutcome outcome;
  outcome.came = {.images = 100, .time = 1e9};
  CHECK_FALSE(outcome.as_predicted());
  outcome.predicted = Prediction();
  outcome.predicted->images_per_s = {90, 110};
  CHECK(outcome.as_predicted());
  outcome.predicted->images_per_s = {101, 110};
  CHECK_FALSE(outcome.as_predicted());
}
