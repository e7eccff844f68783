#include "showing/html/batch_rows.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "showing/html/column.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::int64_t kFinestUnit = 100;  // ns
constexpr std::int64_t kMostUnits = 4'000'000'000;

}  // namespace

template <class T>
void BatchRows::Kept<T>::add(T row) {
  row.ordinal = seen[row.lane]++;
  if (row.ordinal % stride != 0) return;
  rows.push_back(std::move(row));
  if (rows.size() <= kMost) return;
  stride *= 2;
  std::erase_if(rows, [&](const T& old) { return old.ordinal % stride != 0; });
}

std::int64_t BatchRows::at(std::uint64_t ticks) const {
  return ticks == kUnknown ? kNever : trace_->clock.ns(ticks);
}

void BatchRows::begin(const Trace& trace) {
  finish_trace();
  trace_ = &trace;
}

void BatchRows::finish_trace() {
  for (const auto& [iteration, latest] : latest_) steps_.add(latest.step);
  latest_.clear();
  receiving_.clear();
}

void BatchRows::on_span(const Span& span) {
  if (span.kind() == Kind::next) return on_next(span);
  const bool receives = span.kind() == Kind::deserialize || span.kind() == Kind::consume;
  if (receives) receiving_[&span.stream] += trace_->clock.between(span.data.start, span.end);
}

void BatchRows::on_next(const Span& span) {
  const auto [slot, fresh] = latest_.try_emplace(iteration_of(span));
  Latest& latest = slot->second;
  Step step{at(span.data.start), at(span.end), 0, 0, 0, lanes_.training(*span.stream.process)};
  step.receiving =
      std::clamp<std::int64_t>(std::exchange(receiving_[&span.stream], 0), 0, step.end - step.start);
  const bool trained = latest.iteration.add(span).has_value();
  if (!fresh) {
    if (trained) latest.step.trained = std::max<std::int64_t>(0, step.start - latest.step.end);
    steps_.add(latest.step);
  }
  latest.step = step;
}

std::uint32_t BatchRows::set_of(const BatchKey& key) {
  const Process& training = *key.training;
  const auto next = static_cast<std::uint32_t>(sets_.size());
  const Set set = {&training, training.loader_id_of(key.iterator),
                   training.epoch_number_of(key.iterator, key.reset)};
  return sets_.try_emplace(set, next).first->second;
}

void BatchRows::on_batch(const Batch& batch) {
  Row row;
  if (batch.fetch.known()) {
    row.start = at(batch.fetch.start);
    row.end = at(batch.fetch.end);
  }
  row.received = at(batch.received);
  row.consumed = at(batch.consumed);
  if (batch.waited()) {
    row.wait_start = at(batch.wait.start);
    row.wait = wait_ns(batch, trace_->clock);
  }
  row.outstanding = batch.outstanding;
  row.number = batch.key.batch;
  row.lane = lanes_.worker(batch.worker != nullptr ? *batch.worker : *batch.key.training);
  row.set = set_of(batch.key);
  row.out_of_order = batch.out_of_order;
  row.failed = batch.failed || batch.fetched == Fetched::failed;
  rows_.add(row);
}

BatchRows::Kept<BatchRows::Step> BatchRows::all_steps() const {
  Kept<Step> steps = steps_;
  for (const auto& [iteration, latest] : latest_) steps.add(latest.step);
  std::sort(steps.rows.begin(), steps.rows.end(),
            [](const Step& a, const Step& b) { return a.start < b.start; });
  return steps;
}

std::pair<std::int64_t, std::int64_t> BatchRows::extent() const {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  const auto take = [&](std::int64_t ns) {
    if (ns == kNever) return;
    first = std::min(first, ns);
    last = std::max(last, ns);
  };
  for (const Row& row : rows_.rows)
    for (const std::int64_t ns : {row.start, row.end, row.received, row.consumed, row.wait_start}) take(ns);
  for (const Step& step : all_steps().rows)
    for (const std::int64_t ns : {step.start, step.end + step.trained}) take(ns);
  return first > last ? std::pair<std::int64_t, std::int64_t>{0, 0} : std::pair{first, last};
}

nlohmann::ordered_json BatchRows::json() const {
  const auto [first, last] = extent();
  const std::int64_t unit = std::max(kFinestUnit, (last - first) / kMostUnits + 1);
  nlohmann::ordered_json json = {{"origin_ns", first}, {"unit_ns", unit}, {"span", (last - first) / unit}};
  std::vector<nlohmann::ordered_json> sets(sets_.size());
  for (const auto& [set, id] : sets_) {
    const auto& [training, loader, epoch] = set;
    sets[id] = {{"pid", training->pid}, {"loader", loader}, {"epoch", epoch}};
  }
  json["sets"] = sets;
  json["batches"] = batches_json(first, unit);
  json["steps"] = steps_json(first, unit);
  return json;
}

nlohmann::ordered_json BatchRows::batches_json(std::int64_t origin, std::int64_t unit) const {
  Column<4> start, duration, received, consumed, wait_start, wait, number;
  Column<2> lane, set, outstanding;
  Column<1> flags;
  const auto time = [&](Column<4>& column, std::int64_t ns, std::int64_t from) {
    if (ns == kNever)
      column.add_missing();
    else
      column.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns - from) / unit));
  };
  std::vector<const Row*> sorted;
  for (const Row& row : rows_.rows) sorted.push_back(&row);
  std::sort(sorted.begin(), sorted.end(), [](const Row* a, const Row* b) { return a->start < b->start; });
  for (const Row* row : sorted) {
    time(start, row->start, origin);
    time(duration, row->end, row->start);
    time(received, row->received, origin);
    time(consumed, row->consumed, origin);
    time(wait_start, row->wait_start, origin);
    time(wait, row->wait, 0);
    number.add(row->number);
    lane.add(row->lane);
    set.add(row->set);
    row->outstanding == kUnknown ? outstanding.add_missing() : outstanding.add(row->outstanding);
    flags.add((row->out_of_order ? 1u : 0u) | (row->failed ? 2u : 0u));
  }
  return {{"count", sorted.size()},
          {"stride", rows_.stride},
          {"start", start.text()},
          {"duration", duration.text()},
          {"received", received.text()},
          {"consumed", consumed.text()},
          {"wait_start", wait_start.text()},
          {"wait", wait.text()},
          {"number", number.text()},
          {"lane", lane.text()},
          {"set", set.text()},
          {"outstanding", outstanding.text()},
          {"flags", flags.text()}};
}

nlohmann::ordered_json BatchRows::steps_json(std::int64_t origin, std::int64_t unit) const {
  const Kept<Step> steps = all_steps();
  Column<4> start, duration, receiving, trained;
  Column<2> lane;
  const auto units = [&](std::int64_t ns) { return static_cast<std::uint64_t>(ns / unit); };
  for (const Step& step : steps.rows) {
    start.add(units(step.start - origin));
    duration.add(units(step.end - step.start));
    receiving.add(units(step.receiving));
    trained.add(units(step.trained));
    lane.add(step.lane);
  }
  return {{"count", steps.rows.size()},  {"stride", steps.stride},        {"start", start.text()},
          {"duration", duration.text()}, {"receiving", receiving.text()}, {"trained", trained.text()},
          {"lane", lane.text()}};
}

}  // namespace lotus::analyzer
