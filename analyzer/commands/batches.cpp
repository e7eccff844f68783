// `batches`: one row per batch, with all its times.
#include <algorithm>
#include <optional>
#include <string_view>

#include "commands/batch_columns.hpp"
#include "commands/command.hpp"
#include "reading/model/numbering.hpp"
#include "text/csv.hpp"
#include "text/escape.hpp"
#include "text/json_writer.hpp"
#include "text/output.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

struct BatchesOptions {
  std::vector<std::string> traces;
  bool json = false;
  bool csv = false;
};

class Rows : public Visitor {
 public:
  void on_batch(const Batch& batch) override { batches.push_back(batch); }

  std::vector<Batch> batches;
};

std::string_view json_row(const BatchRow& row, const std::string& file, JsonWriter& json) {
  json.clear();
  json.start_object();
  for (const auto& column : batch_columns()) {
    const auto value = column.value(row);
    json.key(column.name);
    if (!value)
      json.null();
    else if (column.flag)
      json.flag(*value != 0);
    else
      json.number(*value);
  }
  json.key("file").text(file);
  json.end_object();
  return json.written();
}

std::string csv_row(const BatchRow& row, const std::string& file) {
  std::string out;
  for (const auto& column : batch_columns()) {
    const auto value = column.value(row);
    out += (value ? std::to_string(*value) : std::string()) + ",";
  }
  return out + csv_cell(escaped(file)) + "\n";
}

std::string csv_titles() {
  std::string out;
  for (const auto& column : batch_columns()) out += std::string(column.name) + ",";
  return out + "file\n";
}

// A column of the table for people: which column it shows, and how.
struct Shown {
  const char* title;
  const char* column;
  std::string (*text)(std::int64_t);
  int importance;
};

std::string as_time(std::int64_t ns) { return human_time(static_cast<double>(ns)); }
std::string as_bytes(std::int64_t bytes) { return human_bytes(static_cast<double>(bytes)); }
std::string as_count(std::int64_t count) { return human_count(static_cast<std::uint64_t>(count)); }
std::string as_id(std::int64_t id) { return std::to_string(id); }

constexpr Shown kShown[] = {{"number", "number", as_count, 0},
                            {"loader", "loader", as_id, 2},
                            {"epoch", "epoch", as_id, 0},
                            {"batch", "batch", as_id, 0},
                            {"worker", "worker_id", as_id, 0},
                            {"worker pid", "worker_pid", as_id, 6},
                            {"samples", "samples", as_count, 3},
                            {"made in", "fetch_ns", as_time, 0},
                            {"serialize", "serialize_ns", as_time, 4},
                            {"bytes", "bytes", as_bytes, 5},
                            {"deserialize", "deserialize_ns", as_time, 4},
                            {"wait", "wait_ns", as_time, 0},
                            {"delay", "delay_ns", as_time, 0}};

std::string status_of(const Batch& batch) {
  if (batch.failed || batch.fetched == Fetched::failed) return "failed";
  if (batch.consumed == kUnknown) return "not consumed";
  return batch.out_of_order ? "out of order" : "";
}

void add_cells(Table& table, const BatchRow& row) {
  std::vector<std::string> cells;
  for (const auto& shown : kShown) {
    const auto value = batch_value(row, shown.column);
    cells.push_back(value ? shown.text(*value) : "-");
  }
  cells.push_back(status_of(row.batch));
  table.add(std::move(cells));
}

Table empty_table() {
  std::vector<Column> columns;
  for (const auto& shown : kShown) columns.push_back({.title = shown.title, .importance = shown.importance});
  columns.push_back({.right = false, .importance = 1, .style = Style::yellow});
  return Table(std::move(columns));
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
  for (const auto& batch : rows.batches) show(BatchRow{trace, batch, numbering.of(batch.key)});
}

void print_batches(const BatchesOptions& options) {
  Output out;
  Table table = empty_table();
  JsonWriter json;
  const char* separator = "\n";
  const auto traces = chosen_traces(options.traces);
  if (options.json) out.write("[");
  if (options.csv) out.write(csv_titles());
  for (const auto& path : traces) {
    each_row(path, [&](const BatchRow& row) {
      if (options.json) {
        out.write(separator);
        out.write(json_row(row, path, json));
      } else if (options.csv) {
        out.write(csv_row(row, path));
      } else {
        add_cells(table, row);
      }
      separator = ",\n";
    });
  }
  if (options.json) out.write("\n]\n");
  if (!options.json && !options.csv)
    out.write(table.empty() ? "No batch was recorded.\n" : table.text(Terminal::of(out.file())));
  out.close();
}

}  // namespace

Run prepare_batches(CLI::App& app) {
  const auto options = std::make_shared<BatchesOptions>();
  add_traces(app, options->traces);
  auto* json = app.add_flag("--json", options->json, "a list of objects, times in ns");
  app.add_flag("--csv", options->csv, "comma-separated values, times in ns")->excludes(json);
  return [options] { print_batches(*options); };
}

}  // namespace lotus::analyzer
