// Malicious traces: each command ends soon and uses bounded memory.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "made_trace.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

#if defined(LOTUS_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr rlim_t kMostMemory = rlim_t{1} << 30;
constexpr rlim_t kMostSeconds = kSanitized ? 600 : 120;  // of CPU time, on any machine
constexpr std::uint64_t kMany = 20'000;

// Runs lotus-analyze with the arguments; returns its exit code, or 128 + signal if it was killed.
int run(const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit memory{kMostMemory, kMostMemory};
    const rlimit seconds{kMostSeconds, kMostSeconds};
    if (!kSanitized) setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CPU, &seconds);
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    std::vector<char*> argv{const_cast<char*>(LOTUS_ANALYZE)};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(LOTUS_ANALYZE, argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void survives(const std::string& name, const Bytes& bytes) {
  CAPTURE(name);
  CHECK(bytes.size() < 8u << 20);  // a small file has to suffice for the attack
  const TemporaryFile file(bytes);
  const std::string out = file.path() + ".out";
  const std::vector<std::vector<std::string>> commands{{"info", "--json"},
                                                       {"report", "--json"},
                                                       {"batches", "--json"},
                                                       {"dump"},
                                                       {"timeline", "-o", "-"},
                                                       {"timeline", "--format", "perfetto", "-o", "-"},
                                                       {"map", "--json"},
                                                       {"flame"},
                                                       {"memory", "--json"},
                                                       {"recover", "-o", out},
                                                       {"redact", "-o", "-", "--key", LOTUS_ANALYZE_KEY}};
  for (std::vector<std::string> command : commands) {
    command.push_back(file.path());
    CAPTURE(command.front());
    CHECK(run(command) <= 1);
  }
  unlink(out.c_str());
}

FrameHeader head_of(FrameType type, std::uint32_t process, std::uint64_t sequence = 1) {
  FrameHeader head = frame_header(type, process);
  head.stream = 1;
  head.sequence = sequence;
  head.base_ticks = at(1);
  return head;
}

template <Kind K, class... Values>
void add(Bytes& body, const Values&... values) {
  const std::size_t at = body.size();
  body.resize(at + encoded_bound<K>(values...));
  body.resize(static_cast<std::size_t>(encode<K>(body.data() + at, 0, values...) - body.data()));
}

// Adds one frame with `count` records, each written by `record`.
void frame_of(MadeTrace& made, const FrameHeader& head, std::uint64_t count,
              const std::function<void(Bytes&, std::uint64_t)>& record) {
  Bytes body;
  for (std::uint64_t i = 0; i < count; ++i) record(body, i);
  made.frame(head, body);
}

}  // namespace

TEST_CASE("frames that become a thousand times larger and more") {
  MadeTrace zeros;
  MadeTrace records;
  const Bytes nothing(std::size_t{1} << 26);
  Bytes spans(std::size_t{1} << 26);
  for (std::size_t i = 0; i < spans.size(); i += 2) spans[i] = static_cast<std::uint8_t>(Kind::leave);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    zeros.frame(head_of(FrameType::definitions, 1), nothing);
    zeros.frame(head_of(FrameType::chunk, 1, i), nothing);
    records.frame(head_of(FrameType::chunk, 1, i), spans);
    records.frame(head_of(FrameType::samples, 1, i), spans);
  }
  survives("zeros", zeros.bytes);
  survives("records", records.bytes);
}

TEST_CASE("an index and a trailer that lead round in circles") {
  MadeTrace made;
  Bytes index;
  for (std::uint64_t i = 0; i < kMany; ++i)
    append(index, IndexEntry{made.bytes.size(), at(1), 1, 1, ~0u, FrameType::chunk, {}});
  made.frame(head_of(FrameType::index, 0), index);
  Bytes trailer;
  append(trailer, TrailerFrame{made.bytes.size(), ~0ull, ~0ull, ~0ull, pair_at(5), ~0u, ~0u});
  made.frame(head_of(FrameType::trailer, 0), trailer);
  survives("index", made.bytes);
}

TEST_CASE("sizes and numbers that are absurd") {
  MadeTrace sizes;
  for (const std::uint32_t size : {0u, 1u, 1u << 26, (1u << 26) + 1, 0x7fffffffu, 0xffffffffu}) {
    FrameHeader head = head_of(FrameType::chunk, 1);
    head.magic = kFrameMagic;
    head.stored_bytes = head.raw_bytes = size;
    head.events = ~0u;
    head.lost_before = ~std::uint64_t{0};
    head.check = frame_check(head);
    append(sizes.bytes, head);
  }
  survives("sizes", sizes.bytes);

  MadeTrace ids;
  for (std::uint32_t process = 1; process < 5000; ++process)
    frame_of(ids, head_of(FrameType::definitions, process), 2, [](Bytes& body, std::uint64_t i) {
      add<Kind::op_def>(body, i == 0 ? 65535u : ~std::uint64_t{0}, OpRole::transform, "a", "b", "c", 1u);
    });
  survives("ids", ids.bytes);

  MadeTrace batches;
  frame_of(batches, head_of(FrameType::chunk, 1), kMany, [](Bytes& body, std::uint64_t i) {
    add<Kind::fetch>(body, 1u, i, (1u << 26) - 1 - i % 2);
    add<Kind::leave>(body);
  });
  survives("batches", batches.bytes);
}

TEST_CASE("texts without an end, and paths that grow and grow") {
  MadeTrace texts;
  texts.frame(head_of(FrameType::definitions, 1),
              Bytes{66, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 'a'});
  survives("texts", texts.bytes);
  MadeTrace paths;
  paths.codec = Codec::raw;
  frame_of(paths, head_of(FrameType::chunk, 1), 20 * kMany, [](Bytes& body, std::uint64_t i) {
    add<Kind::sample>(body, 1);
    add<Kind::path>(body, i, "x");
    add<Kind::leave>(body);
  });
  survives("paths", paths.bytes);
}

TEST_CASE("structures that are deep, long, or rings") {
  MadeTrace deep;
  deep.codec = Codec::raw;
  frame_of(deep, head_of(FrameType::chunk, 1), 50 * kMany,
           [](Bytes& body, std::uint64_t) { add<Kind::op>(body, 1u); });
  survives("spans", deep.bytes);

  constexpr std::uint64_t kStacks = kMany / 16;  // what is printed of them grows with its square
  MadeTrace ring;
  frame_of(ring, head_of(FrameType::definitions, 0), kStacks, [](Bytes& body, std::uint64_t i) {
    add<Kind::stack>(body, i + 1, (i + 1) % kStacks + 1, 1u);
    add<Kind::frame>(body, 1u, kStacks - i, 1u, 1u);
    add<Kind::location>(body, i, 1u, i);
  });
  frame_of(ring, head_of(FrameType::samples, 1), kStacks,
           [](Bytes& body, std::uint64_t i) { add<Kind::stack_sample>(body, 1u, 1u, i + 1, 0u, ~0u); });
  survives("stacks", ring.bytes);
}

TEST_CASE("many of a kind that is rare: epochs, processes and their links") {
  MadeTrace epochs;
  epochs.iterator(1, 1);
  const std::uint32_t worker = epochs.worker(1, 0);
  frame_of(epochs, head_of(FrameType::definitions, 1), 2 * kMany,
           [](Bytes& body, std::uint64_t i) { add<Kind::epoch>(body, 1u, i, i); });
  frame_of(epochs, head_of(FrameType::chunk, worker), 2 * kMany, [](Bytes& body, std::uint64_t i) {
    add<Kind::serialize>(body, i);
    add<Kind::leave>(body);
  });
  survives("epochs", epochs.bytes);

  MadeTrace processes;
  for (std::uint32_t i = 1; i <= kMany; ++i) processes.process(i, 7, 1, pair_at(i));
  frame_of(processes, head_of(FrameType::definitions, 1), 2 * kMany,
           [](Bytes& body, std::uint64_t i) { add<Kind::worker_link>(body, i, i, 7u); });
  survives("processes", processes.bytes);
}

TEST_CASE(
    "many of a kind that training has few of: epochs it runs, threads, operations, batches it waits for") {
  MadeTrace epochs;
  epochs.loader(1, 2);
  frame_of(epochs, head_of(FrameType::definitions, 1), 3 * kMany, [](Bytes& body, std::uint64_t i) {
    add<Kind::iterator>(body, i + 1, 1u);
    add<Kind::epoch>(body, i + 1, 0u, i);
  });
  frame_of(epochs, head_of(FrameType::chunk, 1), 3 * kMany, [](Bytes& body, std::uint64_t i) {
    add<Kind::next>(body, i + 1, 0u);
    add<Kind::leave>(body);
  });
  survives("epochs", epochs.bytes);

  MadeTrace threads;
  threads.codec = Codec::raw;
  for (std::uint32_t i = 1; i <= 5 * kMany; ++i) {
    FrameHeader head = head_of(FrameType::chunk, 1);
    head.stream = i;
    frame_of(threads, head, 1, [](Bytes& body, std::uint64_t) {
      add<Kind::fetch>(body, 1u, 0u, 0u);
      add<Kind::leave>(body);
    });
  }
  survives("threads", threads.bytes);

  MadeTrace ops;
  frame_of(ops, head_of(FrameType::chunk, 1), 20 * kMany, [](Bytes& body, std::uint64_t i) {
    add<Kind::op>(body, i + 1);
    add<Kind::leave>(body);
  });
  survives("operations without a name", ops.bytes);

  MadeTrace waits;
  frame_of(waits, head_of(FrameType::chunk, 1, 1), 1,
           [](Bytes& body, std::uint64_t) { add<Kind::wait>(body, 1u, 0u); });
  frame_of(waits, head_of(FrameType::chunk, 1, 2), 30 * kMany,
           [](Bytes& body, std::uint64_t i) { add<Kind::received>(body, 1u, 0u, i, 0u, 1u); });
  frame_of(waits, head_of(FrameType::chunk, 1, 3), 30 * kMany, [](Bytes& body, std::uint64_t) {
    add<Kind::get>(body, 1u, 0u);
    add<Kind::leave>(body);
  });
  survives("batches of one wait", waits.bytes);
}

TEST_CASE("a loader that says it keeps a quarter of a billion batches ready") {
  MadeTrace made;
  const std::uint32_t number = made.worker(1, 0);
  frame_of(made, head_of(FrameType::definitions, 1), 1, [](Bytes& body, std::uint64_t) {
    add<Kind::loader>(body, 1u, 4096u, 65536u, 8u, 0u, 0u, 0u, "Images", -1, "");
    add<Kind::iterator>(body, 1u, 1u);
    add<Kind::epoch>(body, 1u, 0u, 0u);
  });
  ThreadWriter worker(made, number, 1);
  ThreadWriter main(made, 1, 1);
  for (std::uint64_t i = 0; i < 32; ++i) {
    const double from = 10.0 * static_cast<double>(i);
    span<Kind::fetch>(worker, from + 2, from + 4, 0, 0, i);
    main.record<Kind::next>(at(from + 2), 1, 0);
    main.record<Kind::wait>(at(from + 2), 1, 0);
    get(main, from + 2, from + 5, 1, 0, i, i);
    span<Kind::consume>(main, from + 5, from + 6, 1, 0, i);
    main.record<Kind::leave>(at(from + 6));
    main.record<Kind::leave>(at(from + 6));
  }
  worker.flush();
  main.flush();
  made.close();
  survives("loader", made.bytes);
}

TEST_CASE("frames inside of frames: a copy is about as large as the trace") {
  constexpr std::uint64_t kFrames = 2000;
  MadeTrace made;
  made.bytes.resize(sizeof(FileHeader));
  // With this schema a frame header reads as a record: 76 is the first byte of its magic, and its text ends
  // at the end of the next frame.
  const std::string schema = "1 leave leave\n76 point zzz x:s\n";
  made.frame(head_of(FrameType::schema, 0), Bytes(schema.begin(), schema.end()));
  Bytes records;
  for (int i = 0; i < 13; ++i) records.insert(records.end(), {1, 0});
  records.insert(records.end(), {1, 0x80, 0});
  const std::size_t each = sizeof(FrameHeader) + records.size();
  Bytes nested;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    FrameHeader head = head_of(FrameType::chunk, 1, i + 1);
    head.magic = kFrameMagic;
    head.codec = Codec::raw;
    head.stored_bytes = head.raw_bytes =
        static_cast<std::uint32_t>((kFrames - i) * each - sizeof(FrameHeader));
    head.check = frame_check(head);
    append(nested, head);
    nested.insert(nested.end(), records.begin(), records.end());
  }
  made.bytes.insert(made.bytes.end(), nested.begin(), nested.end());
  made.bytes.insert(made.bytes.end(), 100, 0);
  const TemporaryFile file(made.bytes);
  const std::string out = file.path() + ".out";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"recover"}, {"redact", "--key", LOTUS_ANALYZE_KEY}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--force", "-o", out, file.path()});
    CHECK(run(arguments) == 0);
    CHECK(std::filesystem::file_size(out) < 4 * made.bytes.size());
  }
  unlink(out.c_str());
}

TEST_CASE("a step with one operator of countless operands, and more memory than there is") {
  MadeTrace step;
  frame_of(step, head_of(FrameType::chunk, 1), 20 * kMany, [](Bytes& body, std::uint64_t i) {
    if (i == 0) add<Kind::step>(body, 1, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull);
    add<Kind::operand>(body, i % 7, i, ~0ull, i, ~0ull);
    add<Kind::allocated>(body, i, ~0ull - i, ~0ull);
    if (i % 3 == 0) add<Kind::released>(body, i / 2, ~0ull);
    if (i == 10 * kMany) add<Kind::torch_op>(body, 1, ~0ull, ~0ull, 9, ~0ull, ~0ull);
    if (i == 19 * kMany) add<Kind::step_end>(body, 1, ~0ull, 0, 0, 0, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull);
  });
  survives("step", step.bytes);
}
