// The program as its users run it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "made_logs.hpp"
#include "made_trace.hpp"
#include "text/utf8.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
namespace fs = std::filesystem;

namespace {

struct Outcome {
  int code;
  std::string text;  // stdout and stderr
};

// Runs `lotus-analyze ARGUMENTS` by the shell.
Outcome run(const std::string& arguments, const std::string& environment = "") {
  const std::string command = environment + " " + LOTUS_ANALYZE " " + arguments + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[4096];
  std::size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0) text.append(buffer, got);
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status, text};
}

bool says(const Outcome& outcome, const std::string& part) {
  INFO(outcome.text);
  return outcome.text.find(part) != std::string::npos;
}

Bytes one_batch(const std::string& path) {
  MadeTrace made;
  made.loader(1, 1);
  made.iterator(1, 1);
  const std::uint32_t number = made.worker(1, 0);
  made.op(number, 1, OpRole::transform, "图片Crop");
  ThreadWriter worker(made, number, 1);
  ThreadWriter main(made, 1, 1);
  worker.record<Kind::worker_loop>(at(1), 0, 1);
  worker.record<Kind::fetch>(at(2), 0, 0, 0);
  worker.record<Kind::sample>(at(2), -4);
  worker.path(at(2), path);
  span<Kind::op>(worker, 3, 4, 1);
  worker.record<Kind::leave>(at(5));
  worker.record<Kind::leave>(at(6));
  worker.record<Kind::leave>(at(9));
  main.record<Kind::next>(at(1), 1, 0);
  main.record<Kind::wait>(at(1), 1, 0);
  get(main, 1, 7, 1, 0, 0, 0);
  span<Kind::consume>(main, 7, 8, 1, 0, 0);
  main.record<Kind::leave>(at(8));
  main.record<Kind::leave>(at(8));
  worker.flush();
  main.flush();
  made.close();
  return made.bytes;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

const char* const kCommands[] = {"report",
                                 "report --json",
                                 "info",
                                 "info --json",
                                 "dump",
                                 "dump --json",
                                 "batches",
                                 "batches --json",
                                 "batches --csv",
                                 "timeline -o -",
                                 "timeline --format perfetto -o -",
                                 "counters",
                                 "counters --json",
                                 "counters --csv",
                                 "map",
                                 "map --json",
                                 "map --full",
                                 "flame",
                                 "flame --format speedscope"};

}  // namespace

TEST_CASE("help and version") {
  const Outcome help = run("--help");
  CHECK(help.code == 0);
  for (const char* name : {"report", "batches", "timeline", "map", "info", "dump"}) {
    CHECK(says(help, name));
    const Outcome own = run(std::string(name) + " --help");
    CHECK(own.code == 0);
    CHECK(says(own, "TRACE"));
  }
  const Outcome version = run("--version");
  CHECK(version.code == 0);
  CHECK(says(version, "lotus-analyze "));
}

TEST_CASE("wrong usage is exit code 2") {
  CHECK(run("").code == 2);
  CHECK(run("nonsense").code == 2);
  const Outcome option = run("report --nonsense");
  CHECK(option.code == 2);
  CHECK(option.text.starts_with("lotus-analyze: "));
  CHECK(says(option, "--nonsense"));
  CHECK(run("batches --json --csv").code == 2);
  const TemporaryFile file(one_batch("/a"));
  const Outcome op = run("map --op nonsense " + file.path());
  CHECK(op.code == 2);
  CHECK(says(op, "--op nonsense: no such operation; there are 图片Crop"));
  CHECK(says(run("map --worker 7 " + file.path()), "--worker 7: no such worker; there are 0"));
  const Outcome kind = run("dump --kind nonsense " + file.path());
  CHECK(kind.code == 2);
  CHECK(says(kind, "--schema lists them"));
  const TemporaryFile other(one_batch("/b"));
  CHECK(run("timeline -o /tmp/x.json " + file.path() + " " + other.path()).code == 2);
  const Outcome itself = run("timeline -o " + file.path() + " " + file.path());
  CHECK(itself.code == 2);
  CHECK(says(itself, "is the trace itself"));
}

TEST_CASE("an unusable trace is exit code 1, and one line that names it") {
  const TemporaryFile empty(Bytes{});
  const TemporaryFile other(Bytes(100, 'x'));
  for (const char* command : kCommands) {
    for (const std::string& path : {empty.path(), other.path(), std::string("/nonexistent.lotus")}) {
      const Outcome outcome = run(std::string(command) + " " + path);
      CHECK(outcome.code == 1);
      CHECK(says(outcome, "lotus-analyze: " + path + ": "));
      CHECK(std::count(outcome.text.begin(), outcome.text.end(), '\n') <= 2);
    }
  }
}

TEST_CASE("every command reads a good trace, a truncated one and one without a record") {
  const Bytes whole = one_batch("/data/a.jpg");
  const TemporaryFile good(whole);
  const TemporaryFile truncated(Bytes(whole.begin(), whole.end() - 200));
  const TemporaryFile bare(MadeTrace().bytes);
  for (const char* command : kCommands)
    for (const std::string& path : {good.path(), truncated.path(), bare.path()}) {
      const Outcome outcome = run(std::string(command) + " " + path);
      CHECK_MESSAGE(outcome.code == 0, command, outcome.text);
    }
}

TEST_CASE("without a name the newest trace of the working directory is read") {
  const std::string directory = "/tmp/lotus-analyzer-test-dir-" + std::to_string(::getpid());
  fs::create_directory(directory);
  const std::string inside = "cd " + directory + " &&";
  const Outcome none = run("report", inside);
  CHECK(none.code == 1);
  CHECK(says(none, "no *.lotus in the working directory"));
  const TemporaryFile file(one_batch("/a"));
  fs::copy_file(file.path(), directory + "/old.lotus");
  fs::last_write_time(directory + "/old.lotus", fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::copy_file(file.path(), directory + "/new.lotus");
  CHECK(says(run("report", inside), "new.lotus"));
  CHECK(run("timeline", inside).code == 0);
  CHECK(fs::exists(directory + "/new.lotus.json"));
  CHECK(run("recover", inside).code == 0);
  CHECK(fs::exists(directory + "/new.recovered.lotus"));
  fs::copy_file(file.path(), directory + "/new.lotus.2");  // from an earlier run with the same name
  fs::copy_file(file.path(), directory + "/new.lotus.old");
  CHECK(says(run("report", inside), "new.lotus.2: "));
  fs::remove_all(directory);
}

TEST_CASE("a reader who has seen enough is no error, not even where SIGPIPE is ignored") {
  MadeTrace made;
  ThreadWriter thread(made, 1, 1);
  for (int i = 0; i < 20'000; ++i) span<Kind::op>(thread, 3, 4, 1);  // much more than a pipe holds
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  const Outcome outcome = run("dump " + file.path() + " | head -1", "trap '' PIPE;");
  CHECK(outcome.code == 0);
  CHECK(std::count(outcome.text.begin(), outcome.text.end(), '\n') == 1);
}

TEST_CASE("a trace that ends too soon: whether it is still being written, and where the rest may be") {
  const Bytes whole = one_batch("/a");
  const TemporaryFile file(Bytes(whole.begin(), whole.end() - 200));
  const Outcome cut = run("report " + file.path());
  CHECK(says(cut, "lotus-collector --drain"));
  CHECK(says(cut, "recover makes"));
  const int held = ::open(file.path().c_str(), O_RDWR);
  REQUIRE(::flock(held, LOCK_EX) == 0);
  const Outcome running = run("report " + file.path());
  CHECK(says(running, "it is still being written"));
  CHECK_FALSE(says(running, "recover makes"));
  ::close(held);
  const TemporaryFile recovered(Bytes{});
  REQUIRE(run("recover --force -o " + recovered.path() + " " + file.path()).code == 0);
  CHECK_FALSE(says(run("report " + recovered.path()), "recover makes"));
}

TEST_CASE("nasty paths: one line each, no control characters, no line too wide, valid JSON") {
  const std::string path =
      "/data/\x1b[31m\n图片图片图片图片图片图片图片图片图片图片图片图片图片图片图片图片/\xff.jpg";
  const TemporaryFile file(one_batch(path));
  for (const char* width : {"40", "80", "200"}) {
    const Outcome outcome = run("report " + file.path(), std::string("COLUMNS=") + width);
    CHECK(outcome.text.find('\x1b') == std::string::npos);
    std::istringstream lines(outcome.text);
    std::string line;
    while (std::getline(lines, line)) CHECK_MESSAGE(display_width(line) <= std::stoul(width), line);
  }
  const auto report = nlohmann::json::parse(run("report --json " + file.path()).text);
  CHECK(report["slow_samples"][0]["path"].get<std::string>().find("\n图片") != std::string::npos);
  const Outcome dump = run("dump " + file.path());
  CHECK(says(dump, "\\x1b[31m\\n图片"));
}

TEST_CASE("dump: one record a line, leaves tell what they close") {
  const TemporaryFile file(one_batch("/data/a.jpg"));
  const Outcome dump = run("dump " + file.path());
  CHECK(says(dump, "1700000000.002000000 101 1/101   fetch iterator=0 reset=0 batch=0\n"));
  CHECK(says(dump, "1700000000.002000000 101 1/101     sample index=-4\n"));
  CHECK(says(dump, " path shared=0 suffix=\"/data/a.jpg\" path=\"/data/a.jpg\"\n"));
  CHECK(says(dump,
             "1700000000.004000000 101 1/101       leave closes=op duration_ns=1000000 name=\"图片Crop\"\n"));
  std::istringstream lines(run("dump --json --kind leave --process 101 " + file.path()).text);
  std::string line;
  std::vector<nlohmann::json> leaves;
  while (std::getline(lines, line)) leaves.push_back(nlohmann::json::parse(line));
  REQUIRE(leaves.size() == 4);
  CHECK(leaves[0]["t_ns"] == realtime(4));
  CHECK(leaves[0]["pid"] == 101);
  CHECK(leaves[0]["stream"] == 1);
  CHECK(leaves[0]["closes"] == "op");
  CHECK(leaves[0]["name"] == "图片Crop");
  CHECK(leaves[0]["duration_ns"] == 1'000'000);
  CHECK(leaves[0]["depth"] == 3);
  CHECK(leaves[3]["closes"] == "worker_loop");
  const auto link = nlohmann::json::parse(run("dump --json --kind worker_link " + file.path()).text);
  CHECK(link["pid"] == 100);
  CHECK(link["worker_link_pid"] == 101);
  CHECK(says(run("dump --schema " + file.path()), "8 enter fetch iterator:u reset:u batch:u\n"));
}

TEST_CASE("batches: the same rows three ways") {
  const TemporaryFile file(one_batch("/data/a.jpg"));
  const auto rows = nlohmann::json::parse(run("batches --json " + file.path()).text);
  REQUIRE(rows.size() == 1);
  const auto& row = rows[0];
  CHECK(row["number"] == 0);
  CHECK(row["loader"] == 1);
  CHECK(row["epoch"].is_null());  // its definition is not there
  CHECK(row["worker_pid"] == 101);
  CHECK(row["worker_id"] == 0);
  CHECK(row["samples"] == 1);
  CHECK(row["fetch_start_ns"] == realtime(2));
  CHECK(row["fetch_ns"] == 4'000'000);
  CHECK(row["wait_ns"] == 6'000'000);
  CHECK(row["out_of_order"] == false);
  CHECK(row["consumed_at_ns"] == realtime(8));
  CHECK(row["delay_ns"] == 2'000'000);
  CHECK(row["file"] == file.path());
  const Outcome csv = run("batches --csv " + file.path());
  CHECK(says(csv, "number,loader,epoch,batch,"));
  CHECK(says(csv, "\n0,1,,0,100,1,0,101,0,1,"));
  CHECK(says(run("batches " + file.path()), "4.00 ms"));
}

TEST_CASE("info tells what is wrong with a trace") {
  Bytes bytes = one_batch("/a");
  const TemporaryFile good(bytes);
  const auto info = nlohmann::json::parse(run("info --json " + good.path()).text);
  CHECK(info["truncated"] == false);
  CHECK(info["records"]["fetch"] == 1);
  CHECK(info["processes"].size() == 2);
  CHECK(info["processes"][1]["worker"] == 0);
  CHECK(info["loaders"][0]["dataset"] == "ImageFolder");
  CHECK(info["loaders"][0]["length"] == 100);
  bytes.resize(bytes.size() - 60);
  const TemporaryFile cut(bytes);
  const Outcome text = run("info " + cut.path());
  CHECK(says(text, "truncated: the frame at byte"));
  const auto json = nlohmann::json::parse(run("info --json " + cut.path()).text);
  CHECK(json["truncated"] == true);
  CHECK(json["cut_off_at"].is_number());
}

TEST_CASE("timeline: an output that exists is replaced only if that is asked for") {
  const TemporaryFile file(one_batch("/a"));
  const TemporaryFile old(Bytes{'o', 'l', 'd'}, ".json");
  const auto content = [&] {
    std::ifstream in(old.path());
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  for (const std::string format : {"chrome", "perfetto"}) {
    const std::string command = "timeline --format " + format + " -o " + old.path() + " " + file.path();
    const Outcome refused = run(command);
    CHECK(refused.code == 2);
    CHECK(says(refused, old.path() + ": exists; give --force"));
    CHECK(content() == "old");
  }
  CHECK(run("timeline --force -o " + old.path() + " " + file.path()).code == 0);
  CHECK(nlohmann::json::parse(content()).contains("traceEvents"));
  CHECK(run("timeline --format nonsense -o - " + file.path()).code == 2);
}

TEST_CASE("timeline --merge: a profile that cannot be merged leaves the output alone") {
  const TemporaryFile file(one_batch("/a"));
  const std::string text = R"([{"ph":"X","name":"a","pid":100,"tid":1,"ts":1600000000000000,"dur":1}])";
  const TemporaryFile other(Bytes(text.begin(), text.end()), ".json");
  const std::string target = other.path() + ".out";
  const Outcome outcome = run("timeline --merge " + other.path() + " -o " + target + " " + file.path());
  CHECK(outcome.code == 1);
  CHECK(says(outcome, other.path() + ": is of another run than " + file.path()));
  CHECK(says(outcome, "2020-09-13 12:26:40.000 UTC"));
  CHECK(!fs::exists(target));
  const Outcome itself =
      run("timeline --force --merge " + other.path() + " -o " + other.path() + " " + file.path());
  CHECK(itself.code == 2);
  CHECK(says(itself, "is the profile itself"));
}

TEST_CASE("output that cannot be written is an error") {
  const TemporaryFile file(one_batch("/a"));
  CHECK(run("timeline -o /nonexistent/x.json " + file.path()).code == 1);
  const Outcome full = run("report " + file.path() + " >/dev/full");
  CHECK(full.code == 1);
}

TEST_CASE("import: an error leaves what stands at the output") {
  const TemporaryDirectory place;
  write_five_batches(place, "logs");
  place.write("logs/log_worker_pid_101", place.read("logs/log_worker_pid_101") + "no such line\n");
  place.write("old.lotus", "old");
  const std::string old = place.path() + "/old.lotus";
  const std::string link = place.path() + "/link.lotus";
  const std::string fifo = place.path() + "/fifo";
  fs::create_symlink(old, link);
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);  // or its writer would wait
  const auto import = [&](const std::string& options, const std::string& output) {
    const Outcome outcome = run("import " + options + " --force -o " + output + " " + place.path() + "/logs");
    CAPTURE(outcome.text);
    return outcome.code;
  };
  const auto entries = [&] { return std::distance(fs::directory_iterator(place.path()), {}); };
  for (const auto& output : {old, link, fifo}) CHECK(import("--strict", output) == 1);
  CHECK(import("--strict", place.path() + "/new.lotus") == 1);
  const bool untouched = place.read("old.lotus") == "old";
  CHECK(untouched);
  CHECK(fs::is_symlink(link));
  CHECK(fs::is_fifo(fifo));
  CHECK(entries() == 4);  // the logs and these three
  fs::permissions(old, fs::perms(0640));
  CHECK(import("", link) == 0);
  CHECK(fs::status(old).permissions() == fs::perms(0640));
  CHECK(fs::is_symlink(link));
  CHECK(run("info " + old).code == 0);
  CHECK(entries() == 4);
  ::close(reader);
}

TEST_CASE("no command writes over the trace that it reads") {
  const Bytes bytes = one_batch("/a");
  const TemporaryFile trace(bytes);
  const TemporaryFile data(bytes, ".csv");
  const TemporaryFile picture(bytes, ".svg");
  const std::pair<const char*, const TemporaryFile*> cases[] = {
      {"report --html ", &trace}, {"flame -o ", &trace},      {"table batches -o ", &trace},
      {"figure 2 -o ", &data},    {"figure 2 -o ", &picture}, {"timeline -o ", &trace},
      {"recover -o ", &trace},    {"redact -o ", &trace}};
  for (const auto& [command, file] : cases) {
    const Outcome outcome = run(command + file->path() + " --force " + file->path());
    const auto shown = command;  // a structured binding cannot be captured
    CAPTURE(shown);
    CHECK_MESSAGE(outcome.code == 2, outcome.text);
    const bool untouched = text_of(file->path()) == std::string(bytes.begin(), bytes.end());
    CHECK(untouched);
  }
}
