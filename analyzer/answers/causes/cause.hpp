// The causes of a slow input pipeline: one table. A row says what a cause is called, how the facts of a run
// are judged, which change it advises, and which question the replay is asked about that change.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lotus::analyzer {

class Case;

// `unknown` stays the last one: the table has one row for each.
enum class Cause : std::uint8_t {
  suspended,
  iterators,
  sampler,
  dataset_in_step,
  page_cache,
  repeated,
  startup,
  idle_workers,
  threads,
  oversubscribed,
  gil,
  lock,
  gc,
  batching,
  transfer,
  storage,
  slow_worker,
  op,
  uneven,
  workers,
  own_code,
  memory,
  crowded,
  too_little,
  training,
  balanced,
  unknown,
};

// A fact that a cause rests on: a number with its unit (percent, s, ms, times, bytes, or none), or words.
struct Evidence {
  std::string fact;
  double value = 0;
  std::string unit{};
  std::string words{};  // instead of a number
};

// What a row says of a run.
struct Judgement {
  bool holds = false;
  // Percent of training's time that would not have passed without this cause, as far as the trace can tell.
  double explains = 0;
  // Would cure the waiting whatever its reason, like more workers: see kGeneral.
  bool general = false;
  // Is told before all others: it may end the run.
  bool urgent = false;
  // Is told after all others that hold: they would remain without it.
  bool aside = false;
  // What it blames is in no trial, as it runs beside the fetches: the row's one answers something else.
  bool untried = false;
  std::string words;     // printable: the cause with its numbers, or why it is not the cause
  std::string change{};  // instead of the row's; empty: that one
  std::vector<Evidence> evidence{};
};

// Causes of all kinds take part in one order; the rest is judged only where none of them holds.
enum class Place : std::uint8_t { ranked, rest };

struct CauseRow {
  Cause cause;
  const char* name;  // stable, see docs/man/lotus-json.5.scd
  Place place;
  Judgement (*judge)(const Case&);
  const char* action;  // of the trial that answers it (trials.hpp); nullptr: there is none
  const char* change;  // what helps, in a few words, where no trial does; nullptr: nothing
  // Its words name what takes the time: which operation takes most is that, or beside the point.
  bool names_cost = true;
  // It can be judged where batches are made by another library's loader, without PyTorch's workers and
  // fetches.
  bool of_any_loader = false;
};

// Where two causes explain about the same, the earlier row is told first.
std::span<const CauseRow> causes();

const CauseRow& row_of(Cause cause);
const char* name_of(Cause cause);

}  // namespace lotus::analyzer
