// Writes a trace as logs of the research system, with the lines in the order in which that would write them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paper/lotustrace/log_line.hpp"
#include "paper/lotustrace/log_name.hpp"
#include "paper/lotustrace/log_writer.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer::lotustrace {

// What the published scripts expect a run's directory to be called, `b<batch>_gpu<n>`. Empty: the trace does
// not tell.
std::string configuration_of(const Trace& trace);

// A log is of one epoch: batches are numbered anew in each. One epoch is written to the directory itself,
// several to one below it each (see Part).
class Exporter : public Visitor {
 public:
  // `trace` and `logs` outlive the exporter. `inside`: where below the directory of `logs`, may be empty.
  // `only`: this epoch of each loader, from 0.
  Exporter(const Trace& trace, LogWriter& logs, std::string prefix, std::string inside,
           std::optional<std::uint64_t> only = {});

  void on_span(const Span& span) override;
  void on_batch(const Batch& batch) override;
  // After the visit: the logs of the training processes.
  void finish();

  std::uint64_t lines() const { return lines_; }
  // Whether there is a directory for each epoch, or for each loader or process.
  bool several() const { return several_; }
  // Operations that ran in no batch: the logs have no place for them.
  std::uint64_t outside() const { return outside_; }

 private:
  // Lines that are written when the sample has ended.
  struct Sample {
    std::vector<Line> loaders, transforms;
  };
  struct Written {
    std::int64_t at;  // when the original writes the line
    Line line;
  };

  void on_op(const Span& span);
  void end_sample(const Stream& stream, const Span& fetch_or_inside);
  void end_fetch(const Span& span);
  void main_line(const BatchKey& key, LineKind kind, std::int64_t start, std::int64_t ns, std::int64_t at);
  void write(const std::string& directory, const LogName& name, const Line& line);
  std::string directory_of(const BatchKey& key) const;
  bool wanted(const BatchKey& key) const;
  static Part part_of(const BatchKey& key);
  Line line_of(LineKind kind, const Span& span) const;
  static const OpenSpan* fetch_of(const Span& span);

  const Trace& trace_;
  LogWriter& logs_;
  std::string prefix_, inside_;
  std::optional<std::uint64_t> only_;
  bool several_ = false, several_processes_ = false, several_loaders_ = false;
  std::map<const Stream*, Sample> samples_;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<Written>> main_;  // by directory and process id
  std::uint64_t lines_ = 0, outside_ = 0;
};

}  // namespace lotus::analyzer::lotustrace
