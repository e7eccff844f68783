// Makes a trace of the logs of one run. A tick is a ns of the realtime clock: times come out as they went in.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "paper/lotustrace/import_plan.hpp"
#include "paper/lotustrace/main_steps.hpp"
#include "paper/lotustrace/worker_blocks.hpp"
#include "reading/trace/imported.hpp"
#include "reading/writer/thread_writer.hpp"
#include "text/output.hpp"

namespace lotus::analyzer::lotustrace {

// importer_state.hpp has them.
struct WrittenProcess;
struct WorkerLog;
struct TrainingLog;
struct FetchPurpose;

class Importer {
 public:
  // All outlive the importer. Reads all logs once. `out` gets the trace. `facts`: with mapping and counters,
  // stored in the trace as they are.
  Importer(const Run& run, const KnownFacts& known, const Imported& facts, Output& out,
           Complaints& complaints);
  ~Importer();
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;

  // Reads the workers' logs once more, and writes. Memory grows with the batches, not with the lines.
  void run();

  std::uint64_t batches() const { return batches_; }
  std::uint64_t epochs() const;
  std::size_t processes() const { return processes_.size(); }
  // Names of the operations in the logs; after run().
  const std::set<std::string>& ops() const { return op_names_; }

 private:
  using Process = WrittenProcess;
  using Source = WorkerLog;
  using Training = TrainingLog;
  using Fetching = FetchPurpose;

  void define_all();
  void define_process(Process& process, const std::string& directory);
  void define_training(Training& training);
  void define_links(std::uint32_t pid, const PlannedWorker& worker);
  void define_imported();
  Process& process_of(std::uint32_t pid);
  void begin_worker(std::uint32_t pid, const PlannedWorker& worker);

  void write_steps(Training& training, std::int64_t until);
  void write_step(Training& training, const Step& logged);
  static void write_leave(Process& process, const Step& step);
  void write_received(Training& training, const Step& step);
  void write_pins(Training& training);
  void write_blocks(Source& source, const PlannedEpoch& epoch);
  bool fill(Source& source);
  void write_block(Process& process, Source& source, const Fetching& fetching);
  void enter(Process& process, const Source& source, const BlockSpan& span, const Fetching& fetching);
  std::uint64_t op_of(Process& process, const Source& source, const BlockSpan& span);
  void write_out();
  void finish();

  const Run& run_;
  const KnownFacts& known_;
  const Imported& facts_;
  Output& out_;
  Complaints& complaints_;
  std::vector<BatchRecords> records_;  // of each directory
  Plan plan_;
  std::unique_ptr<TraceWriter> file_;
  std::map<std::uint32_t, std::unique_ptr<Process>> processes_;  // by process id
  std::vector<std::unique_ptr<Training>> trainings_;
  std::vector<std::vector<std::unique_ptr<Source>>> sources_;  // of each directory, each worker
  std::set<std::string> op_names_;
  std::uint64_t batches_ = 0;
};

}  // namespace lotus::analyzer::lotustrace
