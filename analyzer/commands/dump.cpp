// `dump`: every record as text or as a JSON object, one a line.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "commands/command.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/json_writer.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct DumpOptions {
  std::vector<std::string> traces;
  std::vector<std::uint32_t> pids;
  std::vector<std::string> kinds;
  bool json = false;
  bool schema = false;
};

// A record with facts from the trace about it.
struct Line {
  std::int64_t ns = 0;  // realtime
  const Process* process = nullptr;
  std::uint64_t stream = 0, tid = 0;  // 0: of no thread
  const Record* record = nullptr;
  std::size_t depth = 0;
  std::string op{};                   // of ops
  std::string closes{};               // of leaves: name of the kind; empty: not known
  std::int64_t duration_ns = -1;      // of leaves
  const std::string* path = nullptr;  // of paths, whole
};

class Dump : public Visitor {
 public:
  Dump(const Trace& trace, const DumpOptions& options, Output& out)
      : trace_(trace), options_(options), out_(out) {}

  bool wants_records() const override { return true; }

  void on_record(const Stream& stream, const RecordAt& at) override {
    if (at.record.kind == Kind::path) follow_path(stream, at.record);
    if (!wanted(*stream.process, at.record.kind)) return;
    Line line{trace_.clock.ns(at.ticks), stream.process, stream.number, stream.tid(), &at.record, at.depth};
    if (at.record.shape == Shape::leave && at.closes != nullptr) {
      line.closes = trace_.schema.name(static_cast<Kind>(at.closes->code));
      line.duration_ns = trace_.clock.between(at.closes->start, at.ticks);
      if (at.closes->op != nullptr && at.closes->kind == Kind::op) line.op = at.closes->op->name;
    }
    if (at.record.kind == Kind::op && trace_.schema.understood(Kind::op))
      line.op = op_name(stream, at.record);
    if (at.record.kind == Kind::path) line.path = &path_;
    print(line);
  }

  void on_definition(const Process& process, const Record& record, std::uint64_t ticks) override {
    if (!wanted(process, record.kind)) return;
    print({trace_.clock.ns(ticks), &process, 0, 0, &record, 0});
  }

  bool wants_stacks() const override { return true; }
  void on_stack_sample(const Process& process, const Record& record, std::uint64_t ticks) override {
    print_stack(process, record, ticks, field<Kind::stack_sample, "tid">(record),
                field<Kind::stack_sample, "op">(record));
  }
  void on_sample_count(const Process& process, const Record& record, std::uint64_t ticks) override {
    if (wanted(process, record.kind)) print({trace_.clock.ns(ticks), &process, 0, 0, &record, 0});
  }
  void on_off_cpu(const Process& process, const Record& record, std::uint64_t ticks) override {
    print_stack(process, record, ticks, field<Kind::off_cpu, "tid">(record),
                field<Kind::off_cpu, "op">(record));
  }
  void print_stack(const Process& process, const Record& record, std::uint64_t ticks, std::uint64_t tid,
                   std::uint64_t id) {
    if (!wanted(process, record.kind)) return;
    Line line{trace_.clock.ns(ticks), &process, 0, tid, &record, 0};
    const Op* op = id == 0 ? nullptr : op_of(process, id);
    if (op != nullptr) line.op = op->name;
    print(line);
  }

  void on_gap(const Stream& stream, std::uint64_t lost, std::uint64_t ticks) override {
    path_.clear();
    if (!options_.kinds.empty() || !wanted(*stream.process, Kind{})) return;
    const std::int64_t ns = trace_.clock.ns(ticks);
    if (!options_.json)
      return flush_line(fmt::format("{} {} {}/{} gap lost={}", seconds(ns), stream.process->pid,
                                    stream.number, stream.tid(), lost));
    json_.clear();
    json_.start_object();
    json_.key("t_ns").number(ns);
    json_.key("pid").number(stream.process->pid);
    json_.key("stream").number(stream.number);
    json_.key("kind").text("gap");
    json_.key("depth").number(0);
    json_.key("lost").number(lost);
    json_.end_object();
    flush_line(json_.written());
  }

 private:
  bool wanted(const Process& process, Kind kind) const {
    const auto& pids = options_.pids;
    if (!pids.empty() && std::find(pids.begin(), pids.end(), process.pid) == pids.end()) return false;
    const auto& kinds = options_.kinds;
    return kinds.empty() || std::find(kinds.begin(), kinds.end(), trace_.schema.name(kind)) != kinds.end();
  }

  // As the model does: the record is shown before it takes effect.
  void follow_path(const Stream& stream, const Record& record) {
    const std::uint64_t shared = field<Kind::path, "shared">(record);
    path_ = stream.chunk_path.substr(0, std::min<std::uint64_t>(shared, stream.chunk_path.size()));
    path_ += field<Kind::path, "suffix">(record);
    if (path_.size() > kMaxStringInRecord) path_.clear();
  }

  static const Op* op_of(const Process& process, std::uint64_t id) { return process.ops.find(id); }

  static std::string op_name(const Stream& stream, const Record& record) {
    const Op* op = op_of(*stream.process, field<Kind::op, "def">(record));
    return op == nullptr ? std::string() : op->name;
  }

  // Times before 1970 are damage.
  static std::string seconds(std::int64_t ns) {
    if (ns < 0) return "-" + seconds(-ns);
    return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
  }

  void print(const Line& line) {
    if (options_.json)
      print_json(line);
    else
      print_text(line);
  }

  void flush_line(std::string_view text) {
    out_.write(text);
    out_.write("\n");
  }

  void print_text(const Line& line) {
    line_.clear();
    const auto at = std::back_inserter(line_);
    const Record& record = *line.record;
    fmt::format_to(at, "{} {} {}/{} {:{}}{}", seconds(line.ns), line.process->pid, line.stream, line.tid, "",
                   2 * line.depth, trace_.schema.name(record.kind));
    const auto& names = trace_.schema.fields(record.kind);
    const auto& row = trace_.schema.layout().rows[static_cast<std::uint8_t>(record.kind)];
    for (std::size_t i = 0; i < record.count; ++i) {
      if (row.types[i] == 's')
        fmt::format_to(at, " {}=\"{}\"", names[i], escaped(record.s[i]));
      else if (row.types[i] == 'z')
        fmt::format_to(at, " {}={}", names[i], record.z(i));
      else
        fmt::format_to(at, " {}={}", names[i], record.u[i]);
    }
    if (!line.closes.empty()) fmt::format_to(at, " closes={} duration_ns={}", line.closes, line.duration_ns);
    if (!line.op.empty()) fmt::format_to(at, " name=\"{}\"", escaped(line.op));
    if (line.path != nullptr) fmt::format_to(at, " path=\"{}\"", escaped(*line.path));
    flush_line({line_.data(), line_.size()});
  }

  // A field with the same name as one of the line's own keys gets the record's kind as a prefix.
  static std::string key(const std::string& kind, const std::string& name) {
    static constexpr std::string_view kOwn[] = {"t_ns", "pid", "stream", "tid", "kind", "depth", "closes"};
    return std::find(std::begin(kOwn), std::end(kOwn), name) == std::end(kOwn) ? name : kind + "_" + name;
  }

  void print_json(const Line& line) {
    const Record& record = *line.record;
    const std::string& kind = trace_.schema.name(record.kind);
    json_.clear();
    json_.start_object();
    json_.key("t_ns").number(line.ns);
    json_.key("pid").number(line.process->pid);
    json_.key("stream").number(line.stream);
    json_.key("tid").number(line.tid);
    json_.key("kind").text(kind);
    json_.key("depth").number(line.depth);
    const auto& names = trace_.schema.fields(record.kind);
    const auto& row = trace_.schema.layout().rows[static_cast<std::uint8_t>(record.kind)];
    for (std::size_t i = 0; i < record.count; ++i) {
      json_.key(key(kind, names[i]));
      if (row.types[i] == 's')
        json_.text(record.s[i]);
      else if (row.types[i] == 'z')
        json_.number(record.z(i));
      else
        json_.number(record.u[i]);
    }
    if (!line.closes.empty()) {
      json_.key("closes").text(line.closes);
      json_.key("duration_ns").number(line.duration_ns);
    }
    if (!line.op.empty()) json_.key("name").text(line.op);
    if (line.path != nullptr) json_.key("path").text(*line.path);
    json_.end_object();
    flush_line(json_.written());
  }

  const Trace& trace_;
  const DumpOptions& options_;
  Output& out_;
  std::string path_;
  fmt::memory_buffer line_;
  JsonWriter json_;
};

void dump(const DumpOptions& options, const std::string& path, Output& out) {
  Trace trace(path);
  for (const auto& kind : options.kinds)
    if (trace.schema.find(kind) == nullptr)
      throw WrongUsage(fmt::format("--kind {}: {} has no such record kind; --schema lists them",
                                   escaped(kind), escaped(path)));
  if (options.schema) return out.write(trace.schema.text());
  Dump view(trace, options, out);
  read_trace(trace, view);
}

}  // namespace

Run prepare_dump(CLI::App& app) {
  const auto options = std::make_shared<DumpOptions>();
  add_traces(app, options->traces);
  app.add_option("--process", options->pids, "only this process; may be repeated")
      ->type_name("PID")
      ->allow_extra_args(false);
  app.add_option("--kind", options->kinds, "only records of this kind; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_flag("--json", options->json, "a JSON object per line");
  app.add_flag("--schema", options->schema, "print the record kinds of the trace and their fields instead");
  return [options] {
    Output out;
    for (const auto& path : chosen_traces(options->traces)) dump(*options, path, out);
    out.close();
  };
}

}  // namespace lotus::analyzer
