#include "commands/batch_columns.hpp"

#include <stdexcept>
#include <string>

namespace lotus::analyzer {
namespace {

using Value = std::optional<std::int64_t>;

Value known(std::uint64_t value) {
  return value == kUnknown ? Value() : Value(static_cast<std::int64_t>(value));
}

Value at(const BatchRow& row, std::uint64_t ticks) {
  return ticks == kUnknown ? Value() : Value(row.trace.clock.ns(ticks));
}

Value start_of(const BatchRow& row, const Interval& interval) {
  return interval.known() ? Value(row.trace.clock.ns(interval.start)) : Value();
}

Value length_of(const BatchRow& row, const Interval& interval) {
  return interval.known() ? Value(row.trace.clock.between(interval.start, interval.end)) : Value();
}

Value loader_of(const BatchRow& row) {
  const Loader* loader = row.batch.key.training->loader_of(row.batch.key.iterator);
  return loader == nullptr ? Value() : Value(static_cast<std::int64_t>(loader->id));
}

Value epoch_of(const BatchRow& row) {
  const BatchKey& key = row.batch.key;
  const Epoch* epoch = key.training->epoch_of(key.iterator, key.reset);
  return epoch == nullptr ? Value() : Value(static_cast<std::int64_t>(epoch->number));
}

Value worker_pid(const BatchRow& row) {
  return row.batch.worker == nullptr ? Value() : Value(row.batch.worker->pid);
}

Value worker_id(const BatchRow& row) {
  const Process* worker = row.batch.worker;
  if (worker == nullptr || !worker->worker_of || row.batch.inline_fetch) return {};
  return static_cast<std::int64_t>(worker->worker_of->worker);
}

Value wait_of(const BatchRow& row) {
  return row.batch.waited() ? Value(wait_ns(row.batch, row.trace.clock)) : Value();
}

Value delay_of(const BatchRow& row) {
  const Batch& batch = row.batch;
  if (batch.consumed == kUnknown || !batch.fetch.known()) return {};
  return row.trace.clock.ns(batch.consumed) - row.trace.clock.ns(batch.fetch.end);
}

constexpr BatchColumn kColumns[] = {
    {"number", false, [](const BatchRow& r) { return r.number ? known(*r.number) : Value(); }},
    {"loader", false, loader_of},
    {"epoch", false, epoch_of},
    {"batch", false, [](const BatchRow& r) { return known(r.batch.key.batch); }},
    {"pid", false, [](const BatchRow& r) { return Value(r.batch.key.training->pid); }},
    {"iterator", false, [](const BatchRow& r) { return known(r.batch.key.iterator); }},
    {"reset", false, [](const BatchRow& r) { return known(r.batch.key.reset); }},
    {"worker_pid", false, worker_pid},
    {"worker_id", false, worker_id},
    {"samples", false, [](const BatchRow& r) { return known(r.batch.unsized ? kUnknown : r.batch.samples); }},
    {"queued_at_ns", false, [](const BatchRow& r) { return at(r, r.batch.queued); }},
    {"fetch_start_ns", false, [](const BatchRow& r) { return start_of(r, r.batch.fetch); }},
    {"fetch_ns", false, [](const BatchRow& r) { return length_of(r, r.batch.fetch); }},
    {"put_ns", false, [](const BatchRow& r) { return length_of(r, r.batch.put); }},
    {"serialize_ns", false, [](const BatchRow& r) { return length_of(r, r.batch.serialize); }},
    {"bytes", false, [](const BatchRow& r) { return known(r.batch.bytes); }},
    {"send_ns", false, [](const BatchRow& r) { return length_of(r, r.batch.send); }},
    {"deserialize_ns", false, [](const BatchRow& r) { return length_of(r, r.batch.deserialize); }},
    {"pin_ns", false, [](const BatchRow& r) { return length_of(r, r.batch.pin); }},
    {"pin_queued_at_ns", false, [](const BatchRow& r) { return at(r, r.batch.pin_queued); }},
    {"received_at_ns", false, [](const BatchRow& r) { return at(r, r.batch.received); }},
    {"outstanding", false, [](const BatchRow& r) { return known(r.batch.outstanding); }},
    {"wait_start_ns", false, [](const BatchRow& r) { return start_of(r, r.batch.wait); }},
    {"wait_ns", false, wait_of},
    {"out_of_order", true, [](const BatchRow& r) { return Value(r.batch.out_of_order ? 1 : 0); }},
    {"consumed_at_ns", false, [](const BatchRow& r) { return at(r, r.batch.consumed); }},
    {"delay_ns", false, delay_of},
    {"failed", true,
     [](const BatchRow& r) { return Value(r.batch.failed || r.batch.fetched == Fetched::failed ? 1 : 0); }},
};

}  // namespace

std::span<const BatchColumn> batch_columns() { return kColumns; }

std::optional<std::int64_t> batch_value(const BatchRow& row, std::string_view name) {
  for (const auto& column : kColumns)
    if (column.name == name) return column.value(row);
  throw std::logic_error("no column " + std::string(name));
}

}  // namespace lotus::analyzer
