// The definitions of a trace: processes, threads, ops, loaders, iterators, epochs.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <lotus/trace.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reading/trace/imported.hpp"

namespace lotus::analyzer {

// A callable of a pipeline. The same callable of several processes is one Op.
struct Op {
  std::uint32_t index = 0;  // numbers the ops of a trace, from 0
  OpRole role = OpRole::transform;
  std::string name, qualified, file;
  std::uint64_t line = 0;
};

struct Loader {
  std::uint64_t id = 0;  // within its process
  std::uint64_t workers = 0, prefetch = 0, batch_size = 0;
  bool pin_memory = false, persistent = false, in_order = true;
  std::string dataset;
  std::string sampler;         // or the batch sampler, if that is not PyTorch's; empty: unknown
  std::int64_t length = -1;    // of the dataset; negative: unknown
  std::string variable, file;  // what it was assigned to where it was made, and where that is; empty: unknown
  std::uint64_t line = 0;
  std::string library;     // whose it is, if not PyTorch's: how its batches are made is not recorded
  std::uint64_t made = 1;  // times it was created, see preload/pipeline/iterators.hpp

  bool is_other() const { return !library.empty(); }
  // `LoaderIterator of torchdata.nodes`
  std::string name() const { return is_other() ? dataset + " of " + library : dataset; }
  // `train.py:88`; empty: unknown.
  std::string place() const {
    return file.empty() ? file : file.substr(file.rfind('/') + 1) + ":" + std::to_string(line);
  }
  // Over epochs.
  bool keeps_workers() const { return persistent && made <= 1; }
};

struct Epoch {
  std::uint64_t number = 0;  // per loader, from 0
  std::uint64_t ticks = 0;   // when it began
};

struct Thread {
  std::uint64_t tid = 0;
  std::string name;
};

// Ops by the id that a process gave them. Ids are small and dense unless a file is damaged or crafted, so
// memory grows with the number of ids, not with their values.
class OpTable {
 public:
  const Op*& slot(std::uint64_t id) {
    if (id < dense_.size()) return dense_[id];
    if (id > kAlways && id > 2 * dense_.size()) return sparse_[id];
    const std::size_t before = dense_.size();
    dense_.resize(id + 1);
    if (!sparse_.empty()) move_to_dense(before);
    return dense_[id];
  }

  // nullptr: not defined.
  const Op* find(std::uint64_t id) const {
    if (id < dense_.size()) return dense_[id];
    const auto hit = sparse_.find(id);
    return hit == sparse_.end() ? nullptr : hit->second;
  }

 private:
  static constexpr std::uint64_t kAlways = 64;

  void move_to_dense(std::size_t from) {
    for (std::size_t id = from; id < dense_.size(); ++id)
      if (const auto hit = sparse_.find(id); hit != sparse_.end()) {
        dense_[id] = hit->second;
        sparse_.erase(hit);
      }
  }

  std::vector<const Op*> dense_;
  std::unordered_map<std::uint64_t, const Op*> sparse_;
};

// How the threads of a process were sampled.
struct Sampling {
  std::uint64_t hz = 0;         // asked for; 0: off
  std::uint64_t period_ns = 0;  // CPU time between two samples of a thread
  std::uint64_t source = 0;     // a SampleSource
};

// A time in which a process did not run, as the collector saw it: at least so long.
struct Stop {
  std::uint64_t since = 0, ticks = 0;
};

// Why threads of a process were not sampled: timers were refused.
struct TimersRefused {
  std::uint64_t error = 0;  // an errno
  std::uint64_t limit = 0;  // of pending signals (RLIMIT_SIGPENDING)

  std::string why() const;  // as part of a sentence, with what to do
};

// A counter of LOTUS_COUNTERS.
struct WantedCounter {
  std::string name;  // perf's
  bool user_only = false;
  std::uint64_t error = 0;  // an errno: why it is not counted
};

// A native entry point that is timed.
struct Hook {
  std::string name, library;
};

// A Python function on the way to an operator of PyTorch.
struct PythonCode {
  std::string name, file;
  std::uint64_t line = 0;  // where it begins
};

// Where a Python function was when it called: a call chain is a place with those around it.
struct CallPlace {
  std::uint64_t parent = 0;  // the place that called the function; 0: none
  std::uint64_t code = 0;
  std::uint64_t line = 0;    // 0: not known
  std::uint64_t offset = 0;  // of the instruction in the code, in bytes
};

// What a code object is made of, as it lies in the process; all empty: not known.
struct CodeTable {
  std::string bytecode;         // co_code
  std::string lines;            // co_lnotab in 3.9, else co_linetable
  std::string names;            // co_names, joined by newlines
  std::string exceptions = {};  // co_exceptiontable; empty: it has no handlers, or not known
};

// What recording steps and regions costs, in picoseconds; 0: not known.
struct LaneCost {
  std::uint64_t operator_ps = 0;  // an operator, outside of its own time
  std::uint64_t inside_ps = 0;    // inside
  std::uint64_t nested_ps = 0;    // inside, for each one that it called
  std::uint64_t call_ps = 0;      // a call of a Python function with its end
  std::uint64_t tensor_ps = 0;    // an operand
};

// What torch.compile said of itself. `region`: 1 + the number of the region or step in which it was; 0: of
// none.
struct GraphBreak {
  std::uint64_t region = 0;
  std::string function, file;
  std::uint64_t line = 0;  // 0: not known
  std::string reason;
};
struct Compilation {
  std::uint64_t region = 0;
  std::string function, file;
  std::uint64_t line = 0;
  std::optional<std::uint64_t> took_ns, guards, checking_ns;  // that are known
  std::string why;     // it was compiled again; empty: for the first time
  std::string failed;  // why it was not; empty: it was
};

struct TensorForm {
  std::uint64_t dtype = 0;  // c10::ScalarType
  std::string sizes;        // "64x3x224x224"
};

// Which rank of a distributed training run a process belongs to.
struct RankOf {
  std::uint64_t rank = 0, world = 0;
  std::int64_t local = -1;  // among those of its machine; -1: unknown
};

// What LOTUS_TRY made of DataLoaders; texts as "num_workers=8,pin_memory=1".
struct Tried {
  std::string settings;
  std::string instead;  // what the program says
  std::string refused;  // why these loaders stayed as the program makes them; empty: they did not

  bool operator==(const Tried&) const = default;
};

// What a process ran on, as topdown.hpp has it.
struct Processor {
  std::string vendor;
  std::uint64_t family = 0, model = 0;
};

// How a process ended.
enum class Ending : std::uint8_t { unknown, left, killed };

struct Process;

// Which iterator a worker process works for.
struct WorkerOf {
  const Process* training = nullptr;
  std::uint64_t iterator = 0;
  std::uint64_t worker = 0;
};

struct Process {
  std::uint32_t number = 0;  // in the trace, from 1
  std::uint32_t pid = 0, parent_pid = 0;
  ClockPair created{};
  std::string python, program, arguments, directory, host, torch, architecture;
  std::uint64_t cores = 0;
  std::uint64_t pair_cost_ps = 0;   // of one Enter/Leave pair of the tracer, picoseconds
  std::uint64_t start_cost_ns = 0;  // CPU time of the tracer until it was ready to record
  std::optional<ProcessEndFrame> end;
  Ending ending = Ending::unknown;
  std::optional<WorkerOf> worker_of;
  std::optional<Sampling> sampling;
  std::optional<TimersRefused> timers_refused;
  std::vector<Stop> stops;
  std::vector<Tried> tried;
  std::optional<Processor> processor;
  std::optional<RankOf> rank;  // of a worker: that of its training process

  std::map<std::uint32_t, Thread> threads;  // by stream
  // Where the file ends before the process did: ticks of the last record of each thread, by tid.
  std::map<std::uint64_t, std::uint64_t> last_records;
  OpTable ops;
  std::map<std::uint64_t, Loader> loaders;           // by id
  std::map<std::uint64_t, Hook> hooks;               // by id
  std::map<std::uint64_t, WantedCounter> counters;   // by number
  std::map<std::uint64_t, PythonCode> python_codes;  // by id
  std::map<std::uint64_t, CallPlace> places;         // by id
  std::map<std::uint64_t, CodeTable> code_tables;    // by id of the code
  std::optional<LaneCost> lane_cost;
  std::vector<GraphBreak> graph_breaks;
  std::vector<Compilation> compilations;
  std::map<std::uint64_t, TensorForm> tensor_forms;  // by id
  std::string
      no_steps;  // why the storages of its operators are not known; empty: they are, or none was asked for
  std::map<std::uint64_t, std::uint64_t> iterators;                 // iterator → loader
  std::map<std::pair<std::uint64_t, std::uint64_t>, Epoch> epochs;  // (iterator, reset)

  // Whether the file has the records of a thread up to `ticks`. For a thread without records, the others'
  // count.
  bool has_records_until(std::uint64_t tid, std::uint64_t ticks) const;
  // nullptr: there is no definition.
  const Loader* loader_of(std::uint64_t iterator) const;
  const Epoch* epoch_of(std::uint64_t iterator, std::uint64_t reset) const;
  // The same as numbers; without a definition: 0, and the reset.
  std::uint64_t loader_id_of(std::uint64_t iterator) const;
  std::uint64_t epoch_number_of(std::uint64_t iterator, std::uint64_t reset) const;
  // The reset of `iterator` that was current at `ticks`; after settle().
  std::uint64_t reset_at(std::uint64_t iterator, std::uint64_t ticks) const;
  // Once all epochs are known.
  void settle();

 private:
  struct Begun {
    std::uint64_t ticks, reset;  // ticks: the latest begin of the resets up to this one
  };
  std::map<std::uint64_t, std::vector<Begun>> begun_;  // by iterator
};

class Catalog {
 public:
  Imported imported;

  // The process of a number; added if it is not known (its frame may be lost). Number 0 is no traced process:
  // the collector's own definitions belong to it.
  Process& process(std::uint32_t number);
  // At most this number of ids without a definition get an op of their own; no program has as many.
  static constexpr std::size_t kMostLostNames = 1024;

  // The op of an id. If its definition is lost, an op whose name says so; beyond kMostLostNames, such ids
  // share one.
  const Op& op(Process& process, std::uint64_t id);

  // Adds one definition record, made at `ticks` by process `number`.
  void define(std::uint32_t number, const Record& record, std::uint64_t ticks);
  // Call after the last definition: finds the training process of each worker, and so its rank.
  void link_workers();

  // Worker processes that a training process started but that recorded nothing (as without shared memory).
  std::uint64_t unrecorded_workers() const;
  // Worker processes that have begun, but the file ends before their first record.
  std::uint64_t missing_workers() const;

  // What the samples of the trace are, as far as it tells: "images" where a library for images was called or
  // an operation is one of it, else "samples".
  const char* sample_unit() const;

  const std::map<std::uint32_t, std::unique_ptr<Process>>& processes() const { return processes_; }

 private:
  struct Link {
    WorkerOf of;
    std::uint64_t ticks;
  };
  const Op& intern(OpRole role, std::string name, std::string qualified, std::string file,
                   std::uint64_t line);
  void define_process(Process& process, const Record& record);
  const Link* nearest_link(const Process& process) const;
  void define_op(Process& process, const Record& record);
  void define_loader(Process& process, const Record& record);
  static void define_place(Process& process, const Record& record);
  void define_imported(const Record& record);

  Process collector_;
  std::map<std::uint32_t, std::unique_ptr<Process>> processes_;
  std::map<std::tuple<OpRole, std::string, std::string, std::string, std::uint64_t>, std::unique_ptr<Op>>
      ops_;
  std::unordered_map<std::uint64_t, std::vector<Link>> links_;  // by pid of the worker
  std::size_t lost_names_ = 0;
};

}  // namespace lotus::analyzer
