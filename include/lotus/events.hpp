// The event schema: one row per record kind. Everything else that knows record kinds (the enum,
// the encoder's arity checks, the decoder, fields by name, `lotus-analyze dump` and the schema frame of a
// trace file) is derived from these rows.
//
// A row is ROW(name, code, shape, fields). Codes are never reused: `next`, above each group, is the first one
// that no version had; ends of spans take theirs from the spans'. A new field is appended to its
// row's end; readers take the field list from the schema frame of the file they read, so a record
// of a later version is decoded, and what is unknown in it is skipped.
//
// `fields` is a list of `name:type` or `name:type:unit`, separated by spaces. Types:
//   u  unsigned varint        z  zigzag varint (signed)        s  varint length, then bytes (UTF-8)
// Units: kUnits. Ticks: clock.hpp. Periods: of sampling. Units do not stand in a file's schema.
//
// Batches are named (iterator, reset, batch): `iterator` counts the
// DataLoader iterators that a process created, from 1 (0 in a worker process: the process's
// `worker_link` record says which); `reset` counts how often that iterator started an epoch anew, from
// 0; `batch` is PyTorch's own index within the epoch, from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace lotus {

enum class Shape : std::uint8_t {
  enter,       // opens a span in its thread
  leave,       // closes the innermost open span of its thread
  point,       // describes the innermost open span, or an instant
  definition,  // says once what ids used in other records mean; travels in definition frames
};

// clang-format off
#define LOTUS_RECORDS(ROW)                                                                          \
  /* ---- ends of spans ---- */                                                                     \
  ROW(leave,          1, leave, "")                 /* returned normally */                         \
  ROW(leave_error,    2, leave, "")                 /* left by a Python exception */                \
  ROW(leave_empty,    3, leave, "")                 /* no sample was made, or what came is no batch */ \
  ROW(leave_lost,     4, leave, "")                 /* abandoned: C++ exception, longjmp */         \
  /* ---- spans; next: 23 ---- */                                                                   \
  ROW(op,             5, enter, "def:u")            /* a callable of a pipeline; see op_def */      \
  ROW(sample,         6, enter, "index:z")          /* Dataset.__getitem__; -1 when not an int */   \
  ROW(samples,        7, enter, "count:u")          /* Dataset.__getitems__ */                      \
  ROW(fetch,          8, enter, "iterator:u reset:u batch:u")  /* T1 */                             \
  ROW(worker_loop,    9, enter, "worker:u workers:u")                                               \
  ROW(put,           10, enter, "batch:u")          /* worker: the result queue's put */            \
  ROW(serialize,     11, enter, "batch:u")          /* worker's feeder thread: pickling */          \
  ROW(send,          12, enter, "batch:u")          /* worker's feeder thread: writing the pipe */  \
  ROW(next,          13, enter, "iterator:u reset:u")          /* the iterator's __next__ */        \
  ROW(wait,          14, enter, "iterator:u reset:u")          /* _next_data */                     \
  ROW(get,           15, enter, "iterator:u reset:u")          /* _get_data */                      \
  ROW(receive,       16, enter, "iterator:u")       /* Queue.get on the result queue */             \
  ROW(deserialize,   17, enter, "iterator:u")       /* unpickling, after the bytes arrived */       \
  ROW(consume,       18, enter, "iterator:u reset:u batch:u")  /* _process_data */                  \
  ROW(pin,           19, enter, "iterator:u reset:u batch:u")  /* copy to pinned memory */          \
  ROW(start_workers, 20, enter, "iterator:u")       /* the iterator's __init__ */                   \
  ROW(indices,       21, enter, "iterator:u reset:u batch:u")  /* the sampler: which samples make this batch; \
                                                       before batch 0 also the sampler's iter() */  \
  ROW(pickle_process, 22, enter, "")                /* in start_workers (spawn, forkserver): a worker's process object, \
                                                       with its dataset; its `bytes` are those pickled */ \
  /* ---- points; next: 119 ---- */                                                                 \
  ROW(queued,        32, point, "iterator:u reset:u batch:u outstanding:u")                         \
  ROW(received,      33, point, "iterator:u reset:u batch:u expected:u outstanding:u")              \
  ROW(pin_queued,    34, point, "iterator:u reset:u batch:u")  /* handed on by the pin thread */    \
  ROW(process_cpu,   41, point, "ns:u:ns")          /* CPU time that the process has used so far: at both \
                                                       ends of a `next`, so that its steps are known, and of \
                                                       a long fetch, so that other threads' part is */ \
  ROW(others_steps, 118, point, "count:u")          /* in a next, of a thread that trains nothing itself: how many steps \
                                                       of optimizers other threads of its process have made so \
                                                       far */                                       \
  ROW(bytes,         35, point, "count:u:bytes")    /* moved by the innermost open span */          \
  ROW(storages,     117, point, "count:u bytes:u:bytes")  /* in a serialize: tensors' storages that go through shared \
                                                       memory; bytes: theirs, a part of its `bytes` */ \
  ROW(cpu,           36, point, "ns:u:ns")          /* thread CPU time of the innermost open span */\
  ROW(path,          37, point, "shared:u:bytes suffix:s")  /* file of the open sample: `shared` of the \
                                                       chunk's previous path, then `suffix` */      \
  ROW(native,        38, point, "hook:u calls:u ticks:u:ticks bytes:u:bytes")  /* what a native entry point did inside \
                                                       the innermost open span, nested spans left out */ \
  ROW(open,          39, point, "kind:u a:u b:u c:u age:u:ticks")    /* chunk start: a span that is open, \
                                                       outermost first; redundant unless chunks are \
                                                       missing before; a, b, c: its fields as coded */\
  ROW(no_operators,  42, point, "")                 /* in a fetch: PyTorch's operators are not counted in it */ \
  ROW(core_wait,     43, point, "ns:u:ns")          /* in a fetch: how long its thread could have run and waited \
                                                       for a core (run delay); not of short fetches */ \
  ROW(python_calls,  44, point, "calls:u ns:u:ns")  /* calls of Python functions since the thread's last such record, \
                                                       and what Lotus made them longer by, estimated */ \
  ROW(faults,        45, point, "minor:u major:u read:u:bytes")  /* of the process so far, now and then after a \
                                                       batch: page faults, bytes read from storage */ \
  ROW(footprint,     46, point, "threads:u resident:u:bytes private:u:bytes")  /* of the process, seldom after a \
                                                       batch; 2^64 - 1: not known */                \
  ROW(collections,   47, point, "young:u middle:u old:u")  /* garbage collections of the process so far, after a \
                                                       batch, when the old generation was collected */ \
  ROW(interpreter_lock, 50, point, "waits:u ticks:u:ticks")  /* waiting for Python's lock for a switch interval and \
                                                       more, all threads of the process so far, now and \
                                                       then after a batch */                        \
  ROW(seen,          48, point, "")                 /* by the collector, last in an open_chunk frame: the thread \
                                                       had recorded nothing more by then */         \
  ROW(standing,      54, point, "function:s file:s line:u")  /* by the collector, before `seen`: a Python frame of \
                                                       the thread, the innermost first; line: the one that \
                                                       is executed, 0 unknown */                     \
  ROW(unreadable,    55, point, "error:u")          /* by the collector, before `seen`: the kernel did not let it \
                                                       read the process's memory; an errno */        \
  ROW(dataset_call,  49, point, "ticks:u:ticks name:s")  /* just ended, outside of all spans: a function of the \
                                                       dataset's class that the training loop called; only \
                                                       what took 100 µs or more */                  \
  ROW(reopened,      51, point, "opens:u bytes:u:bytes path:s")  /* a file that the thread opened several times while \
                                                       it made batches, so far: how often, bytes read from it */ \
  ROW(whole_batch,   52, point, "count:u")          /* in a sample or a fetch: what came is a whole batch, as of \
                                                       loaders without a batch size; count: its samples, \
                                                       0 where that cannot be told */                \
  ROW(started,       53, point, "process:u:ns torch:u:ns unpickling:u:ns prepare:u:ns")  /* in a worker's loop, once its \
                                                       fetcher is made: from the fork or execution of its process to \
                                                       the loop; from the import of PyTorch to there (0: it was \
                                                       there); what unpickling the process object took (0: none, or \
                                                       not known); from the loop to here: worker_init_fn, iter() */ \
  ROW(stack_sample,  40, point, "tid:u op:u stack:u flags:u weight:u:periods")  /* only in frames of type `samples`; \
                                                       see snapshot.hpp */                           \
  ROW(off_cpu,       56, point, "tid:u op:u stack:u flags:u ticks:u:ticks hook:u")  /* only in frames of type `samples`: \
                                                       a call inside of a fetch that waited 10 ms or more; \
                                                       its time is the end of the wait, `hook` the function */ \
  ROW(count,         57, point, "counter:u value:u enabled:u:ns running:u:ns")  /* what a counter counted in the innermost \
                                                       open span, see `counting`: of the `enabled` ns that the \
                                                       thread ran, in `running`; both 0: all the time */ \
  ROW(sample_count, 110, point, "counter:u value:u enabled:u:ns running:u:ns")  /* only in frames of type `samples`, behind \
                                                       the stack_sample that it belongs to: what a counter counted \
                                                       in its thread since the last sample with counts; as `count` */ \
  /* Steps of training whose operators are recorded, in the thread that trains. What stands between `step` and \
     `step_end` is of that step; a step without an end was cut off. */                              \
  ROW(step,          58, point, "number:u live:u:bytes faults:u system:u:ns planned:u plan_moves:u " \
                                "plan_moving:u:ns plan_freed:u:bytes")  /* begins; number: of the process's steps, \
                                                       from 0; live: what PyTorch's CPU allocator had given \
                                                       out by then, 2^64 - 1 not known; faults, system: page \
                                                       faults of the thread so far, its CPU time in the kernel; \
                                                       planned 1: it follows LOTUS_TRY's memory-plan, which \
                                                       predicts so many moves, their time, by how much the peak \
                                                       is less */ \
  ROW(step_end,      59, point, "number:u live:u:bytes faults:u system:u:ns incomplete:u moves:u moved:u:bytes " \
                                "moving:u:ns late:u cpu:u:ns")  /* incomplete 1: it had too many records, and its later \
                                                       ones are missing; moves, moved, moving: what was copied for \
                                                       the plan, and how long that took; late: moves that took \
                                                       longer than the plan has it; cpu: time that the thread \
                                                       computed in the step */ \
  ROW(torch_op,      60, point, "hook:u place:u ticks:u:ticks phase:u nested:u forward:u")  /* an operator of PyTorch that \
                                                       no other one calls just ended; see StepPhase; nested: how many \
                                                       it called, and they in turn; forward: in the backward \
                                                       pass, the place of the operator whose gradients it \
                                                       computes, 0 not known */                     \
  ROW(operand,       61, point, "use:u data:u bytes:u:bytes form:u offset:u:bytes")  /* of the next torch_op: a tensor; use: \
                                                       2 * position among the arguments or results, + 1: a \
                                                       result; data, bytes: address and size of its storage; \
                                                       form: see tensor_form, 0 not known; offset: in the \
                                                       storage */                                   \
  ROW(allocated,     62, point, "address:u bytes:u:bytes place:u")  /* by PyTorch's CPU allocator; place: 0 in operators */ \
  ROW(released,      63, point, "address:u bytes:u:bytes")  /* bytes: as the allocator rounded them up */ \
  /* A region: one call of the function that LOTUS_REGION names, in the main thread. Without it, the step is \
     the region. Between its ends stand torch_op, operand, allocated, released as in a step and, where control \
     flow is asked for, the calls of Python functions. A region without an end was cut off. */      \
  ROW(region,       111, point, "number:u place:u") /* begins; number: of the calls of that function, from 0, those \
                                                       inside of a region left out; place: where it was \
                                                       called, 0 not known */                       \
  ROW(region_end,   112, point, "number:u incomplete:u cost:u:ticks cpu:u:ns")  /* incomplete, bits: 1: it had too many records, \
                                                       and its later ones are missing; 2: calls of Python \
                                                       functions are missing, so that counts are lower \
                                                       bounds; 4: only its time is recorded, so that it tells \
                                                       what the others take without recording; cost: of \
                                                       recording what is inside, estimated; cpu: time that the \
                                                       thread computed in it */       \
  ROW(python_call,  113, point, "code:u place:u resumed:u")  /* a call of a Python function begins; code: see \
                                                       python_code; place: the call in its caller, 0 not \
                                                       known; of a recursion, only the outermost turns are \
                                                       among its parents; resumed 1: a generator or coroutine \
                                                       goes on; 2: it had begun before */           \
  ROW(python_return, 114, point, "")                /* the innermost open python_call returned, yielded, or was left by \
                                                       an exception */                              \
  /* ---- definitions of processes; next: 107 (96 to 100 are the collector's) ---- */               \
  ROW(python_code,   94, definition, "id:u name:s file:s line:u")  /* a Python function on the way to an operator */ \
  ROW(place,         95, definition, "id:u parent:u code:u line:u offset:u")  /* where a Python function was at a call: its \
                                                       line, 0 not known, and the offset of the instruction in \
                                                       bytes; parent: the place where it was called, 0: none */ \
  ROW(code_table,   105, definition, "code:u bytecode:s lines:s names:s calls_seen:u exceptions:s")  /* of a python_code: its \
                                                       instructions, as co_code gives them; its table of \
                                                       lines, co_lnotab in 3.9, else co_linetable; co_names, \
                                                       joined by newlines; all empty: not known; calls_seen \
                                                       0: some calls that it makes pass by Lotus; \
                                                       exceptions: co_exceptiontable, empty before 3.11 */ \
  ROW(lane_cost,    106, definition, "operator_ps:u:ps inside_operator_ps:u:ps call_ps:u:ps tensor_ps:u:ps nested_ps:u:ps")  /* \
                                                       what recording regions took so far, 0 not known: a \
                                                       torch_op with its operands outside of its own ticks, and \
                                                       inside; python_call and python_return together; an \
                                                       operand, where it is not in that of its operator; each \
                                                       operator nested in a torch_op, inside of its ticks; the \
                                                       last one counts */                           \
  ROW(graph_break,  115, definition, "region:u function:s file:s line:u reason:s")  /* where torch.compile ended a graph and went on \
                                                       in Python, as it says; region: 1 + the number of the \
                                                       region or step that met it first, 0: none that was \
                                                       recorded or timed; line: 0 not known */         \
  ROW(compilation,  116, definition, "region:u function:s file:s line:u took:u:ns guards:u checking:u:ns operators:u why:s failed:s")  /* \
                                                       torch.compile compiled this function, as it says; region: \
                                                       as in graph_break; guards: what a call of it checks, and \
                                                       how long that once took; 2^64 - 1: not known; why: it was \
                                                       compiled again, empty: for the first time; failed: why it \
                                                       was not, empty: it was */                       \
  ROW(tensor_form,  102, definition, "id:u dtype:u sizes:s")  /* dtype: PyTorch's c10::ScalarType; sizes: "64x3x224x224" */ \
  ROW(no_steps,     103, definition, "reason:s")    /* why operators' storages are not known in this process */ \
  ROW(process,       64, definition, "pid:u parent:u python:s program:s arguments:s directory:s host:s cores:u pair_cost_ps:u:ps torch:s") \
  ROW(architecture,  91, definition, "name:s")      /* whose instructions the process runs: x86_64, aarch64 */ \
  ROW(thread,        65, definition, "stream:u tid:u name:s")                                       \
  ROW(op_def,        66, definition, "id:u role:u name:s qualified:s file:s line:u")                \
  ROW(loader,        67, definition, "id:u workers:u prefetch:u batch_size:u pin_memory:u persistent:u in_order:u dataset:s length:z sampler:s") \
  ROW(iterator,      68, definition, "id:u loader:u")                                               \
  ROW(epoch,         69, definition, "iterator:u reset:u epoch:u")  /* epoch: per loader, from 0 */ \
  ROW(worker_link,   70, definition, "iterator:u worker:u pid:u")                                   \
  ROW(sampling,      71, definition, "hz:u:hz period_ns:u:ns source:u")   /* asked for; CPU time between samples */ \
  ROW(module,        72, definition, "id:u start:u end:u bias:u path:s build_id:s")  /* addresses; bias: that \
                                                       of the file's virtual address 0; build_id: hex */ \
  ROW(module_gone,   73, definition, "id:u")        /* unloaded */                                  \
  ROW(modules_of,    78, definition, "pid:u created:u:ticks at:u:ticks count:u")  /* what a forked process found \
                                                       loaded: the `count` modules that an ancestor, whose \
                                                       ProcessFrame says `pid` and `created`, had by `at`, under \
                                                       the same ids */                               \
  ROW(code,          74, definition, "id:u name:s file:s line:u")   /* a Python function in snapshots */ \
  ROW(hook,          75, definition, "id:u name:s library:s")       /* a native entry point that is timed */ \
  ROW(rank,          76, definition, "rank:u world:u local:z")      /* of a distributed training run; local: among \
                                                       those of this machine, -1 unknown */         \
  ROW(tracing_cost,  77, definition, "call_ps:u:ps inside_call_ps:u:ps start_ns:u:ns")  /* of Lotus in this process, \
                                                       0 not known: a Python call outside of the pipeline and inside, \
                                                       CPU time until all was ready to record */         \
  ROW(loader_place,  79, definition, "id:u variable:s file:s line:u")  /* what a loader was assigned to where it was \
                                                       made, and where that is; empty: not known */   \
  ROW(other_loader,  90, definition, "id:u library:s")  /* of a `loader`: it is another library's, whose inside is not \
                                                       recorded; its `dataset` is the type of its iterator */ \
  ROW(tried,         88, definition, "settings:s instead:s refused:s")  /* LOTUS_TRY: what DataLoaders were made with \
                                                       instead of the program's own settings; refused: why one \
                                                       was not, empty if it was */                     \
  ROW(timers_refused, 89, definition, "error:u limit:u")  /* threads are not sampled, for want of timers: an errno; the \
                                                       process's limit of pending signals (RLIMIT_SIGPENDING), \
                                                       2^64 - 1 none */                               \
  ROW(stopped,       92, definition, "since:u:ticks ticks:u:ticks")  /* by the collector: the process was stopped by a \
                                                       signal when it was looked at, from the first time for so \
                                                       long; or the collector, too, stood still for so long */ \
  ROW(counting,      93, definition, "counter:u name:s user_only:u error:u")  /* LOTUS_COUNTERS: a counter, by perf's \
                                                       name; user_only 1: without what the kernel does for the \
                                                       program; error: an errno, why it is not counted; 0: it is */ \
  ROW(processor,    104, definition, "vendor:s family:u model:u")  /* with LOTUS_COUNTERS: what the process runs on, see \
                                                       ProcessorId in topdown.hpp; vendor empty: not known */ \
  /* ---- definitions of an importer: what another tool said of the run; next: 83 ---- */           \
  ROW(configuration, 80, definition, "name:s ranks:u")  /* of the run; ranks: GPUs or processes that train, 0 \
                                                       not known */                                 \
  ROW(mapped,        81, definition, "op:s function:s library:s")   /* this function runs in this operation */ \
  ROW(counter,       82, definition, "function:s library:s name:s value:s percent:u")  /* value: decimal text; \
                                                       percent 1: of the function's clockticks */    \
  /* ---- definitions by the collector, for all processes (FrameHeader.process 0); next: 101 ---- */ \
  ROW(binary,        96, definition, "id:u path:s build_id:s")                                      \
  ROW(location,      97, definition, "id:u binary:u offset:u")      /* virtual address in the file; binary 0: \
                                                       a Python function */                         \
  ROW(function,      98, definition, "id:u name:s binary:u file:s line:u source:u")                 \
  ROW(frame,         99, definition, "location:u depth:u function:u line:u")  /* depth 0: the innermost of the \
                                                       functions inlined there */                   \
  ROW(stack,        100, definition, "id:u parent:u location:u")    /* parent 0: the outermost frame */
// clang-format on

enum class Kind : std::uint8_t {
#define LOTUS_ROW(name, code, shape, fields) name = code,
  LOTUS_RECORDS(LOTUS_ROW)
#undef LOTUS_ROW
};

// op_def.role: how the callable was recognised.
enum class OpRole : std::uint8_t {
  transform = 0,  // called by a Compose-style runner
  frame = 1,      // a first Python frame below __getitem__ (no runner)
  loader = 2,     // the callable that a DatasetFolder-style dataset opens files with; name `Loader`
  collate = 3,    // the callable that fetch calls with the samples; name `Collation`
  runner = 4,     // the Compose-style runner itself; its children are the ops
};

// torch_op.phase: the part of a training step.
enum class StepPhase : std::uint8_t { forward = 0, backward = 1, optimizer = 2 };

// sampling.source: whose clock the samples come from.
enum class SampleSource : std::uint8_t { cpu_timer = 1, perf = 2 };

// function.source: where its name comes from, best first.
enum class NameSource : std::uint8_t {
  python = 1,
  dwarf = 2,         // debugging information, inlined functions too
  symtab = 3,        // .symtab or .gnu_debugdata
  dynsym = 4,        // .dynsym
  unwind_entry = 5,  // the start of its unwind entry, else where it is called: `library!0x1e7f80`
  unknown = 6,       // `library!0x…`, the sampled address itself
  code = 7,  // the bytes of its code, which are those of a well-known function: better than unwind_entry
};

inline constexpr std::size_t kMaxFields = 10;

struct KindInfo {
  std::string_view name;
  std::uint8_t code;
  Shape shape;
  std::string_view fields;
};

inline constexpr KindInfo kKinds[] = {
#define LOTUS_ROW(name, code, shape, fields) {#name, code, Shape::shape, fields},
    LOTUS_RECORDS(LOTUS_ROW)
#undef LOTUS_ROW
};

// Fields of kinds of shape enter, all of them numbers: a record `open` has room for these.
inline constexpr std::size_t kMaxSpanFields = 3;

inline constexpr std::string_view kUnits[] = {"ticks", "ns", "ps", "hz", "bytes", "periods"};

// The fields of a row, split: types[i] is 'u', 'z' or 's'; units[i] is empty where the row names none.
struct FieldList {
  std::size_t count = 0;
  char types[kMaxFields] = {};
  std::string_view names[kMaxFields];
  std::string_view units[kMaxFields];
  bool valid = true;  // false: malformed text or more than kMaxFields
};

constexpr FieldList parse_fields(std::string_view text) {
  FieldList list;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    const auto colon = word.find(':');
    const bool named = colon != std::string_view::npos && colon > 0 && colon + 2 <= word.size();
    const auto unit = named ? word.substr(colon + 2) : std::string_view();
    const bool typed = named && (unit.empty() || (unit[0] == ':' && unit.size() > 1));
    const char type = typed ? word[colon + 1] : '?';
    if ((type != 'u' && type != 'z' && type != 's') || list.count == kMaxFields) {
      list.valid = false;
      return list;
    }
    list.types[list.count] = type;
    if (!unit.empty()) list.units[list.count] = unit.substr(1);
    list.names[list.count++] = word.substr(0, colon);
    text.remove_prefix(word.size() < text.size() ? word.size() + 1 : word.size());
  }
  return list;
}

constexpr const KindInfo& info(Kind kind) {
  for (const auto& row : kKinds)
    if (row.code == static_cast<std::uint8_t>(kind)) return row;
  return kKinds[0];
}

namespace detail {
constexpr bool is_unit(std::string_view unit) {
  for (const auto known : kUnits)
    if (unit == known) return true;
  return unit.empty();
}
constexpr bool fields_are_sound(const KindInfo& row) {
  const FieldList fields = parse_fields(row.fields);
  for (std::size_t i = 0; i < fields.count; ++i)
    if (!is_unit(fields.units[i]) || (row.shape == Shape::enter && fields.types[i] == 's')) return false;
  return fields.valid && (row.shape != Shape::enter || fields.count <= kMaxSpanFields);
}
constexpr bool rows_are_sound() {
  for (std::size_t i = 0; i < std::size(kKinds); ++i) {
    if (kKinds[i].code == 0 || !fields_are_sound(kKinds[i])) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (kKinds[i].code == kKinds[j].code || kKinds[i].name == kKinds[j].name) return false;
  }
  return true;
}
// Any change to a row, except to units, changes this. The writer and the collector of a segment must agree on
// it.
constexpr std::uint64_t schema_hash() {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  };
  for (const auto& row : kKinds) {
    mix(row.name);
    const char codes[] = {static_cast<char>(row.code), static_cast<char>(row.shape)};
    mix({codes, 2});
    const FieldList fields = parse_fields(row.fields);
    for (std::size_t i = 0; i < fields.count; ++i) {
      if (i > 0) mix(" ");
      mix(fields.names[i]);
      mix(":");
      mix({&fields.types[i], 1});
    }
  }
  return hash;
}
}  // namespace detail

static_assert(detail::rows_are_sound(), "codes and names must be unique, field lists well-formed");
inline constexpr std::uint64_t kSchemaHash = detail::schema_hash();

}  // namespace lotus
