// Other people's solvers: their answers, and what is made of bad ones. And memory-plan as its users run it.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "answers/plan/input.hpp"
#include "answers/plan/mps.hpp"
#include "answers/plan/planning.hpp"
#include "answers/plan/recorded.hpp"
#include "answers/plan/solver_command.hpp"
#include "made_steps.hpp"
#include "text/error.hpp"

using namespace lotus::analyzer;
using namespace lotus::analyzer::memory_plan;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "lotus-plan-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  fs::path path() const { return path_; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

// A variable of the environment, for a while.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

memory::Step small_step() {
  std::mt19937 random(2);
  return test::training_step(3, random);
}

// One synchronous plan with `solver` being this shell script, and what is left in its TMPDIR.
struct Attempt {
  Run run;
  double alone = 0;  // the built-in solver's time
  bool fits = false;
};

Attempt plan_with(const std::string& script, double time_limit = 5) {
  const Folder programs, temporary;
  const std::string program = programs.write("cbc", "#!/bin/sh\n" + script);
  ::chmod(program.c_str(), 0755);
  const memory::Step step = small_step();
  const Rules rules;
  Planned mine = planned(step, rules), theirs = planned(step, rules);
  Request request{.limits = {{.bytes = mine.peak / 3}},
                  .modes = {Mode::synchronous},
                  .solver = SolverChoice::builtin,
                  .effort = {.gap = 0.01, .time_limit_s = time_limit}};
  plan_for(mine, request);
  request.solver = SolverChoice::cbc;
  const Variable path("PATH", programs.path().string() + ":/usr/bin:/bin");
  const Variable directory("TMPDIR", temporary.path().string());
  plan_for(theirs, request);
  CHECK(temporary.files() == 0);
  const auto pages = static_cast<std::int64_t>(theirs.runs[0].limit.bytes / kPage);
  const bool fits = allowed(theirs.problem, theirs.runs[0].placement, pages);
  return {std::move(theirs.runs[0]), mine.runs[0].outcome.seconds, fits};
}

// The plan is the built-in solver's, and the note has these words.
void check_refused(const Attempt& tried, const std::string& words) {
  CAPTURE(tried.run.note);
  CHECK(tried.run.solver == "builtin");
  CHECK(tried.run.note.find(words) != std::string::npos);
  CHECK(tried.fits);
  CHECK(tried.run.outcome.seconds == doctest::Approx(tried.alone).epsilon(0.011));
}

// A solution in which every column Y of the model has this value.
std::string all_columns(const char* value, const char* status) {
  return std::string("echo '") + status + "' > \"${10}\"\n" +
         "grep -o '^    Y[0-9]*' \"$1\" | sort -u | while read name; do echo \"0 $name " + value +
         " 0\" >> \"${10}\"; done\n";
}

struct Told {
  int code;
  std::string out, err;
};

Told command(const std::string& arguments) {
  const Folder folder;
  const std::string out = (folder.path() / "out").string(), err = (folder.path() / "err").string();
  const std::string line =
      std::string(LOTUS_ANALYZE) + " memory-plan " + arguments + " >" + out + " 2>" + err;
  const int status = std::system(line.c_str());
  const auto text = [](const std::string& name) {
    std::stringstream content;
    content << std::ifstream(name).rdbuf();
    return content.str();
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text(out), text(err)};
}

constexpr const char* kSteps = R"({"steps": [{"operators": [
  {"name": "aten::linear", "seconds": 0.001, "place": "train.py:12",
   "operands": [{"storage": 0, "read": true}, {"storage": 1, "written": true}]},
  {"name": "aten::relu", "seconds": 0.001, "phase": "backward", "workspace": 4096,
   "operands": [{"storage": 1, "read": true}, {"storage": 2, "written": true}]},
  {"name": "aten::add_", "seconds": 0.001, "phase": "optimizer",
   "operands": [{"storage": 0, "read": true, "written": true}, {"storage": 2, "read": true}]}],
 "storages": [{"bytes": 4000000, "older": true, "survives": true},
              {"bytes": 8000000, "born": 0, "released": 2, "place": "train.py:12"},
              {"bytes": 2000000, "born": 1, "released": 3}]}]})";

// kSteps with `before` replaced, or as it is where that is "".
std::string steps_with(const std::string& before, const std::string& after) {
  std::string text = kSteps;
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

}  // namespace

TEST_CASE("plan: solutions of cbc are read, and others refused") {
  const SolverAnswer good =
      parse_cbc("Optimal - objective value 12.5\n      3 Y0000001   1   0\n**  4 X0000000 0.5 2\n");
  CHECK(good.trouble.empty());
  CHECK(good.optimal);
  CHECK(good.objective == 12.5);
  CHECK(good.columns.at("Y0000001") == 1);
  CHECK(good.columns.at("X0000000") == 0.5);
  CHECK_FALSE(parse_cbc("Stopped on time - objective value 3\n 0 Y0000000 1 0\n").optimal);
  for (const char* text :
       {"", "hello\n", "Infeasible - objective value 0\n 0 Y0000000 1 0\n",
        "Stopped on time (no integer solution - continuous used) - objective value 1\n 0 Y0000000 1 0\n",
        "Optimal - objective value 1\n 0 Y0000000\n", "Optimal - objective value 1\n 0 Y0000000 nan 0\n"})
    CHECK(parse_cbc(text).trouble != "");
}

TEST_CASE("plan: solutions of highs are read, and others refused") {
  const std::string good =
      "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 7\n# Columns 2\nY0000000 "
      "1\nX0000000 0\n"
      "# Rows 1\nR0000000 1\n\n# Dual solution values\nNone\n";
  const SolverAnswer answer = parse_highs(good);
  CHECK(answer.trouble.empty());
  CHECK(answer.optimal);
  CHECK(answer.objective == 7);
  CHECK(answer.columns.size() == 1);
  CHECK(parse_highs("Model status\nInfeasible\n\n# Primal solution values\nNone\n").trouble != "");
  CHECK(parse_highs(good.substr(0, good.find("X0000000"))).trouble != "");
  CHECK(parse_highs("").trouble != "");
}

TEST_CASE("plan: a solver that fails, lies or writes nonsense leads to no wrong plan") {
  check_refused(plan_with("exit 3"), "ended with code 3");
  check_refused(plan_with("kill -9 $$"), "ended by signal 9");
  check_refused(plan_with("exit 0"), "wrote no solution");
  check_refused(plan_with("head -c 100000 /dev/zero > \"${10}\""), "wrote no solution");
  check_refused(plan_with("mkdir \"${10}\""), "wrote no solution");
  check_refused(plan_with(all_columns("1", "Optimal - objective value 1")), "breaks the model's rules");
  // A weight that begins in fast and ends in slow memory: the next step would not find it.
  check_refused(plan_with("printf 'Optimal - objective value 1\\n0 Y0000000 1 0\\n' > \"${10}\""),
                "breaks the model's rules");
  check_refused(plan_with(all_columns("0.5", "Optimal - objective value 1")), "breaks the model's rules");
  check_refused(plan_with(all_columns("1e300", "Optimal - objective value 1")), "breaks the model's rules");
}

TEST_CASE("plan: a solver's word counts only where its solution agrees with it") {
  const Attempt tried = plan_with(all_columns("0", "Optimal - objective value 1"));
  CHECK(tried.run.solver == "cbc");
  CHECK(tried.run.note.find("another time") != std::string::npos);
  CHECK(tried.fits);
}

TEST_CASE("plan: a solver that does not end is ended, with what it started") {
  const Folder folder;
  const std::string file = (folder.path() / "pid").string();
  check_refused(plan_with("sleep 1000 & echo $! > " + file + "; wait", 0.1), "did not end within 10 s");
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  REQUIRE(pid > 0);
  for (int i = 0; i < 500 && ::kill(pid, 0) == 0; ++i)
    ::usleep(10'000);  // until whoever adopted it has reaped it
  std::string state;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  for (int i = 0; i < 3; ++i) stat >> state;
  CHECK((!stat || state == "Z"));
}

TEST_CASE("plan: the model has fixed columns") {
  const memory::Step step = small_step();
  const Rules rules;
  const Problem problem = problem_of(step, rules);
  std::stringstream lines(
      mps_text(problem, static_cast<std::int64_t>(peak_bytes(step) / kPage / 3), "about"));
  std::string line, section;
  std::size_t entries = 0;
  while (std::getline(lines, line)) {
    if (line.empty() || line[0] != ' ') {
      section = line;
      continue;
    }
    if (section == "ROWS" || line.find("MARKER") != std::string::npos) continue;
    ++entries;
    CHECK(line.size() == 36);
    CHECK(line.substr(12, 2) == "  ");
    CHECK(line.substr(22, 2) == "  ");
  }
  CHECK(section == "ENDATA");
  CHECK(entries > 100);
}

TEST_CASE("plan: steps are read from JSON") {
  const Folder folder;
  const Input input = read_steps(folder.write("steps.json", kSteps));
  REQUIRE(input.steps.size() == 1);
  const memory::Step& step = input.steps[0];
  CHECK(step.operators[2].phase == memory::Phase::optimizer);
  CHECK(step.storages[0].uses == std::vector<std::size_t>{0, 2});
  CHECK(step.storages[0].released == 3);
  CHECK(input.places.at(step.storages[1].place).file == "train.py");
  CHECK(step.storages[1].place == step.operators[0].place);
  CHECK(step.operators[1].workspace == 4096);
}

TEST_CASE("plan: wrong steps are refused with the place") {
  const Folder folder;
  const auto refused = [&](const std::string& text, const std::string& words) {
    const std::string file = folder.write("steps.json", text);
    std::string told = "nothing";
    try {
      read_steps(file);
    } catch (const Unusable& error) {
      told = error.what();
    }
    CAPTURE(told);
    CHECK(told.find(words) != std::string::npos);
    CHECK(told.find("steps.json") != std::string::npos);
  };
  refused("", "is no JSON");
  refused("[]", "must be an object");
  refused("{}", "has no steps");
  refused(steps_with("\"older\": true", "\"old\": true"), "steps[0].storages[0]: old is no key here");
  refused(steps_with("\"bytes\": 4000000", "\"bytes\": -1"),
          "steps[0].storages[0].bytes: must be an integer");
  refused(steps_with("\"bytes\": 4000000", "\"bytes\": 1e30"), "steps[0].storages[0].bytes");
  refused(steps_with("\"storage\": 2", "\"storage\": 3"), "must be less than 3");
  refused(steps_with("\"storage\": 0", "\"storage\": 1"), "steps[0].operators[0]: has storage 1 twice");
  refused(steps_with("\"released\": 2", "\"released\": 1"), "used by operator 1, at which it is not there");
  refused(steps_with("\"released\": 3", "\"released\": 4"), "born ≤ released ≤ 3");
  refused(steps_with("\"seconds\": 0.001", "\"seconds\": -1"), "operators[0].seconds");
  refused(steps_with("\"seconds\": 0.001", "\"seconds\": \"1\""), "operators[0].seconds");
  refused(steps_with("backward", "sideways"), "operators[1].phase: must be forward");
  refused(steps_with("train.py:12", "train.py"), "must be FILE:LINE");
  refused("{\"steps\": [{\"operators\": [], \"storages\": []}]}", "has no operators");
  refused(steps_with("\"bytes\": 8000000, \"born\": 0", "\"bytes\": 8000000"), "storages[1]: has no born");
}

TEST_CASE("plan: of several steps, those with the same operators have median times") {
  Input input;
  for (const double seconds : {1.0, 5.0, 2.0}) {
    memory::Step step;
    step.number = input.steps.size();
    step.operators = {{.name = "a", .seconds = seconds, .operands = {}}};
    input.steps.push_back(step);
  }
  input.steps.push_back(input.steps.back());
  input.steps.back().number = 3;
  input.steps.back().operators[0].name = "b";
  const TypicalStep typical = typical_step(input, std::nullopt, "x");
  CHECK(typical.step.number == 2);
  CHECK(typical.step.operators[0].seconds == 2.0);
  CHECK(typical.alike == 3);
  CHECK(typical.of == 4);
  CHECK(typical_step(input, 3, "x").step.operators[0].name == "b");
  CHECK_THROWS_AS(typical_step(input, 9, "x"), WrongUsage);
  CHECK_THROWS_AS(typical_step({}, std::nullopt, "x"), Unusable);
}

TEST_CASE("plan: recorded steps are whole ones that train, with lives that hold their uses") {
  memory::RecordedStep recorded;
  recorded.ended = true;
  recorded.step.operators = {
      {.name = "a", .operands = {{.storage = 0, .read = true}, {.storage = 0, .written = true}}},
      {.name = "b", .phase = memory::Phase::backward, .operands = {{.storage = 0, .read = true}}}};
  recorded.step.storages = {{.bytes = 1, .born = 1, .released = 1, .uses = {0, 0, 1}}};
  memory::RecordedStep cut = recorded;
  cut.ended = false;
  memory::RecordedStep forward = recorded;
  forward.step.operators.pop_back();
  forward.step.storages[0].uses = {0};
  const Input input = input_of({cut, forward, recorded}, "x");
  REQUIRE(input.steps.size() == 1);
  CHECK(input.steps[0].operators.size() == 2);
  CHECK(input.steps[0].operators[0].operands.size() == 1);
  CHECK(input.steps[0].operators[0].operands[0].written);
  CHECK(input.steps[0].storages[0].born == 0);
  CHECK(input.steps[0].storages[0].released == 2);
  CHECK(input_of({forward, cut}, "x").steps.size() == 1);
  CHECK_THROWS_AS(input_of({cut}, "x"), Unusable);
}

TEST_CASE("plan: tables of operators, and wrong ones") {
  const Folder folder;
  CHECK(KernelTable::read(folder.write("a", "name,factor\naten::mm,2.5\n")).factors.at("aten::mm") == 2.5);
  CHECK(KernelTable::read(folder.write("b", "{\"aten::mm\": 1}")).factors.at("aten::mm") == 1);
  for (const char* text :
       {"", "name,factor\n", "aten::mm\n", "name,factor\naten::mm,x\n", "aten::mm,0.5\n",
        "aten::mm,2\naten::mm,3\n", "{\"aten::mm\": \"2\"}", "{\"aten::mm\": 2", "{}", "aten::mm,inf\n"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(KernelTable::read(folder.write("c", text)), Unusable);
  }
}

TEST_CASE("plan: the command prints plans, as text and JSON") {
  const Folder folder;
  const std::string steps = "--steps " + folder.write("steps.json", kSteps);
  const Told text = command(steps + " --fast 13MB");
  CHECK(text.code == 0);
  CHECK(text.out.find("This is a model of memory that this machine may not have") != std::string::npos);
  CHECK(text.out.find("aten::linear (train.py:12)") != std::string::npos);
  const Told told = command(steps + " --fast 13MB,0:1 --json");
  REQUIRE(told.code == 0);
  const auto json = nlohmann::json::parse(told.out);
  CHECK(json["note"].get<std::string>().find("may not have") != std::string::npos);
  CHECK(json["floor_bytes"] == 12005376);
  CHECK(json["floor_operator"]["name"] == "aten::linear");
  CHECK(json["default_alloc_bytes"] == 14012416);
  REQUIRE(json["runs"].size() == 8);
  CHECK(json["runs"][3]["mode"] == "synchronous");
  CHECK(json["runs"][3]["fast_peak_bytes"] <= 13000000);
  CHECK(json["runs"][7]["ratio"] == "0:1");
  CHECK(json["runs"][7]["predicted_runtime_s"] == doctest::Approx(0.003));
  CHECK(json["plan"].size() >= 4);
}

TEST_CASE("plan: too little fast memory is refused, with the operator") {
  const Folder folder;
  const std::string steps = "--steps " + folder.write("steps.json", kSteps);
  const Told told = command(steps + " --fast 12000000");
  CHECK(told.code == 1);
  CHECK(told.out.empty());
  CHECK(told.err.find("operator 0, aten::linear (train.py:12) needs 12005376 bytes") != std::string::npos);
  CHECK(command(steps + " --fast 12005376").code == 0);
  CHECK(command(steps + " --fast 4096 --below-floor").code == 0);
  const Told less = command(steps + " --fast 4095 --below-floor");
  CHECK(less.code == 1);
  CHECK(less.err.find("operator 1, aten::relu needs 4096 bytes") != std::string::npos);
  const Told floor = command(steps + " --json");  // all of the usual ratios are below the floor
  REQUIRE(floor.code == 0);
  const auto json = nlohmann::json::parse(floor.out);
  REQUIRE(json["notes"].size() == 1);
  CHECK(json["notes"][0].get<std::string>().find("planned for the least possible one") != std::string::npos);
  for (const auto& run : json["runs"]) CHECK(run["fast_limit_bytes"] == 12005376);
}

TEST_CASE("plan: wrong usage") {
  const Folder folder;
  const std::string steps = "--steps " + folder.write("steps.json", kSteps);
  for (const char* options : {" --fast x", " --fast 1XB", " --ratio 8", " --fast 0:0", " --mode lru",
                              " --latency 3x", " --read-bandwidth 0", " --fast-bandwidth 1GB/s", " --step 7",
                              " --solver glpk", " --fast 13MB,14MB --dump-mps -"}) {
    CAPTURE(options);
    CHECK(command(steps + options).code == 2);
  }
  CHECK(command(steps + " run.lotus").code == 2);
  CHECK(command("--steps /no/such/file").code == 1);
}

TEST_CASE("plan: a model is written that cbc solves") {
  if (!find_solver(SolverKind::cbc)) return;
  const Folder folder;
  const std::string model = (folder.path() / "model.mps").string(),
                    solution = (folder.path() / "solution").string();
  REQUIRE(
      command("--steps " + folder.write("steps.json", kSteps) + " --fast 13MB --dump-mps " + model).code ==
      0);
  REQUIRE(std::system(("cbc " + model + " -solve -solution " + solution + " >/dev/null").c_str()) == 0);
  std::stringstream text;
  text << std::ifstream(solution).rdbuf();
  CHECK(parse_cbc(text.str()).trouble == "");
}
