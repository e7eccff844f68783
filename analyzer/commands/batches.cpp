// `batches`: one row per batch, with all its times.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "commands/command.hpp"
#include "model/numbering.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

struct Options {
  std::vector<std::string> traces;
  bool json = false;
  bool csv = false;
};

struct Row {
  const Trace& trace;
  const Batch& batch;
  std::optional<std::uint64_t> number;
};

using Value = std::optional<std::int64_t>;

Value known(std::uint64_t value) {
  return value == kUnknown ? Value() : Value(static_cast<std::int64_t>(value));
}

Value at(const Row& row, std::uint64_t ticks) {
  return ticks == kUnknown ? Value() : Value(row.trace.clock.ns(ticks));
}

Value start_of(const Row& row, const Interval& interval) {
  return interval.known() ? Value(row.trace.clock.ns(interval.start)) : Value();
}

Value length_of(const Row& row, const Interval& interval) {
  return interval.known() ? Value(row.trace.clock.duration_ns(interval.ticks())) : Value();
}

Value loader_of(const Row& row) {
  const Loader* loader = row.batch.key.training->loader_of(row.batch.key.iterator);
  return loader == nullptr ? Value() : Value(static_cast<std::int64_t>(loader->id));
}

Value epoch_of(const Row& row) {
  const auto& epochs = row.batch.key.training->epochs;
  const auto epoch = epochs.find({row.batch.key.iterator, row.batch.key.reset});
  return epoch == epochs.end() ? Value() : Value(static_cast<std::int64_t>(epoch->second.number));
}

Value worker_pid(const Row& row) {
  return row.batch.worker == nullptr ? Value() : Value(row.batch.worker->pid);
}

Value worker_id(const Row& row) {
  const Process* worker = row.batch.worker;
  if (worker == nullptr || !worker->worker_of || row.batch.inline_fetch) return {};
  return static_cast<std::int64_t>(worker->worker_of->worker);
}

Value wait_of(const Row& row) {
  if (row.batch.out_of_order) return kOutOfOrderNs;
  return length_of(row, row.batch.wait);
}

Value delay_of(const Row& row) {
  const Batch& batch = row.batch;
  if (batch.consumed == kUnknown || !batch.fetch.known()) return {};
  return row.trace.clock.ns(batch.consumed) - row.trace.clock.ns(batch.fetch.end);
}

struct Column {
  const char* name;
  bool flag;  // 0 or 1 is false or true
  Value (*value)(const Row&);
};

// Documented in lotus-analyze(1): _at_ns and _start_ns are realtime ns, other _ns are durations.
constexpr Column kColumns[] = {
    {"number", false, [](const Row& r) { return r.number ? known(*r.number) : Value(); }},
    {"loader", false, loader_of},
    {"epoch", false, epoch_of},
    {"batch", false, [](const Row& r) { return known(r.batch.key.batch); }},
    {"pid", false, [](const Row& r) { return Value(r.batch.key.training->pid); }},
    {"iterator", false, [](const Row& r) { return known(r.batch.key.iterator); }},
    {"reset", false, [](const Row& r) { return known(r.batch.key.reset); }},
    {"worker_pid", false, worker_pid},
    {"worker_id", false, worker_id},
    {"samples", false, [](const Row& r) { return known(r.batch.samples); }},
    {"queued_at_ns", false, [](const Row& r) { return at(r, r.batch.queued); }},
    {"fetch_start_ns", false, [](const Row& r) { return start_of(r, r.batch.fetch); }},
    {"fetch_ns", false, [](const Row& r) { return length_of(r, r.batch.fetch); }},
    {"put_ns", false, [](const Row& r) { return length_of(r, r.batch.put); }},
    {"serialize_ns", false, [](const Row& r) { return length_of(r, r.batch.serialize); }},
    {"bytes", false, [](const Row& r) { return known(r.batch.bytes); }},
    {"send_ns", false, [](const Row& r) { return length_of(r, r.batch.send); }},
    {"deserialize_ns", false, [](const Row& r) { return length_of(r, r.batch.deserialize); }},
    {"pin_ns", false, [](const Row& r) { return length_of(r, r.batch.pin); }},
    {"pin_queued_at_ns", false, [](const Row& r) { return at(r, r.batch.pin_queued); }},
    {"received_at_ns", false, [](const Row& r) { return at(r, r.batch.received); }},
    {"outstanding", false, [](const Row& r) { return known(r.batch.outstanding); }},
    {"wait_start_ns", false, [](const Row& r) { return start_of(r, r.batch.wait); }},
    {"wait_ns", false, wait_of},
    {"out_of_order", true, [](const Row& r) { return Value(r.batch.out_of_order ? 1 : 0); }},
    {"consumed_at_ns", false, [](const Row& r) { return at(r, r.batch.consumed); }},
    {"delay_ns", false, delay_of},
    {"failed", true,
     [](const Row& r) { return Value(r.batch.failed || r.batch.fetched == Fetched::failed ? 1 : 0); }},
};

class Rows : public Visitor {
 public:
  void on_batch(const Batch& batch) override { batches.push_back(batch); }

  std::vector<Batch> batches;
};

std::string json_row(const Row& row, const std::string& file) {
  std::string out = "{";
  for (const auto& column : kColumns) {
    const Value value = column.value(row);
    const char* flag = value && *value != 0 ? "true" : "false";
    out += fmt::format("\"{}\":{},", column.name,
                       !value        ? "null"
                       : column.flag ? flag
                                     : std::to_string(*value));
  }
  return out + "\"file\":" + json_string(file) + "}";
}

std::string csv_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_row(const Row& row, const std::string& file) {
  std::string out;
  for (const auto& column : kColumns) {
    const Value value = column.value(row);
    out += (value ? std::to_string(*value) : std::string()) + ",";
  }
  return out + csv_text(escaped(file)) + "\n";
}

std::string csv_titles() {
  std::string out;
  for (const auto& column : kColumns) out += std::string(column.name) + ",";
  return out + "file\n";
}

std::string time_or_dash(Value value) { return value ? human_time(static_cast<double>(*value)) : "-"; }
std::string count_or_dash(Value value) {
  return value ? human_count(static_cast<std::uint64_t>(*value)) : "-";
}

std::string status_of(const Batch& batch) {
  if (batch.failed || batch.fetched == Fetched::failed) return "failed";
  if (batch.consumed == kUnknown) return "not consumed";
  return batch.out_of_order ? "out of order" : "";
}

void add_cells(Table& table, const Row& row) {
  const Batch& batch = row.batch;
  table.add({count_or_dash(row.number ? known(*row.number) : Value()), count_or_dash(loader_of(row)),
             count_or_dash(epoch_of(row)), std::to_string(batch.key.batch), count_or_dash(worker_id(row)),
             worker_pid(row) ? std::to_string(*worker_pid(row)) : "-", human_count(batch.samples),
             time_or_dash(length_of(row, batch.fetch)), time_or_dash(length_of(row, batch.serialize)),
             batch.bytes == kUnknown ? "-" : human_bytes(static_cast<double>(batch.bytes)),
             time_or_dash(length_of(row, batch.deserialize)), time_or_dash(wait_of(row)),
             time_or_dash(delay_of(row)), status_of(batch)});
}

Table empty_table() {
  return Table({{"number"},
                {.title = "loader", .importance = 2},
                {"epoch"},
                {"batch"},
                {"worker"},
                {.title = "worker pid", .importance = 6},
                {.title = "samples", .importance = 3},
                {"preprocessing"},
                {.title = "serialize", .importance = 4},
                {.title = "bytes", .importance = 5},
                {.title = "deserialize", .importance = 4},
                {"wait"},
                {"delay"},
                {.right = false, .importance = 1, .style = Style::yellow}});
}

// Calls `show` for each batch of the trace in order of its number.
template <class Show>
void each_row(const std::string& path, Show show) {
  Trace trace(path);
  Numbering numbering;
  Rows rows;
  read_trace(trace, rows);
  for (const auto& batch : rows.batches) numbering.on_batch(batch);
  numbering.settle();
  const auto order = [&](const Batch& a, const Batch& b) {
    return numbering.of(a.key) < numbering.of(b.key);
  };
  std::stable_sort(rows.batches.begin(), rows.batches.end(), order);
  for (const auto& batch : rows.batches) show(Row{trace, batch, numbering.of(batch.key)});
}

void print_batches(const Options& options) {
  Output out;
  Table table = empty_table();
  const char* separator = "";
  const auto traces = chosen_traces(options.traces);
  if (options.json) out.write("[");
  if (options.csv) out.write(csv_titles());
  for (const auto& path : traces) {
    each_row(path, [&](const Row& row) {
      if (options.json)
        out.write(separator + std::string("\n") + json_row(row, path));
      else if (options.csv)
        out.write(csv_row(row, path));
      else
        add_cells(table, row);
      separator = ",";
    });
  }
  if (options.json) out.write("\n]\n");
  if (!options.json && !options.csv)
    out.write(table.empty() ? "No batch was recorded.\n" : table.text(Terminal::of(out.file())));
  out.close();
}

}  // namespace

Run prepare_batches(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_traces(app, options->traces);
  auto* json = app.add_flag("--json", options->json, "a list of objects, times in ns");
  app.add_flag("--csv", options->csv, "comma-separated values, times in ns")->excludes(json);
  return [options] { print_batches(*options); };
}

}  // namespace lotus::analyzer
