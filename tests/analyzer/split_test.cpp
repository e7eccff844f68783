// Function counters split over operations, and the files that hold the counters.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "answers/stats/interval.hpp"
#include "made_logs.hpp"
#include "paper/split/counters.hpp"
#include "paper/split/mapping.hpp"
#include "paper/split/split.hpp"
#include "text/error.hpp"

using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

namespace {

const char* const kMapping = R"({
  "op_to_func": {"Loader": ["decode_mcu|libjpeg.so.9", "memmove|libc.so.6"], "Crop": ["memmove|libc.so.6"],
                 "ToTensor": ["memmove|libc.so.6", "copy_kernel|libtorch_cpu.so"]},
  "common_funcs_to_op": {"memmove|libc.so.6": ["Loader", "Crop", "ToTensor"]}})";

// Elapsed time: 6 s of Loader, 3 s of Crop, 1 s of ToTensor.
const OpSeconds kElapsed = {{"Loader", 6}, {"Crop", 3}, {"ToTensor", 1}};

const char* const kTable =
    "Function\tModule\tCPU Time\tClockticks\tFront-End Bound(%)\n"
    "decode_mcu\t/usr/lib/libjpeg.so.9\t4.0s\t8000\t25.0\n"
    "memmove\tlibc.so.6\t1.0s\t2000\t10.0\n"
    "copy_kernel\tlibtorch_cpu.so\t0.5s\t\"1,000\"\t40.0\n"
    "PyEval\tpython3\t0.25s\t500\t8.0\n";

std::string refusal(const std::string& text, bool mapping) {
  const TemporaryDirectory directory;
  directory.write("file", text);
  try {
    if (mapping)
      read_mapping(directory.path() + "/file");
    else
      read_counters(directory.path() + "/file", {}, [](const std::string&) {});
  } catch (const Unusable& error) {
    return error.what();
  }
  return "";
}

bool names(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

std::vector<CounterSplit> split_of(const char* table) {
  const TemporaryDirectory directory;
  directory.write("map.json", kMapping);
  directory.write("table", table);
  const auto mapped = read_mapping(directory.path() + "/map.json");
  return split_counters(read_counters(directory.path() + "/table", mapped, [](const std::string&) {}), mapped,
                        kElapsed);
}

}  // namespace

TEST_CASE("split: worked out by hand") {
  const auto splits = split_of(kTable);
  REQUIRE(splits.size() == 3);
  const auto& time = splits[0];
  CHECK(time.name == "CPU Time");
  // memmove's 1 s is split: 6/10 for Loader, 3/10 for Crop, 1/10 for ToTensor.
  CHECK(time.by_op.at("Loader") == Approx(4 + 0.6));
  CHECK(time.by_op.at("Crop") == Approx(0.3));
  CHECK(time.by_op.at("ToTensor") == Approx(0.1 + 0.5));
  CHECK(time.unmapped == Approx(0.25));
  const auto& ticks = splits[1];
  CHECK(ticks.by_op.at("Loader") == Approx(8000 + 1200));
  CHECK(ticks.by_op.at("Crop") == Approx(600));
  CHECK(ticks.by_op.at("ToTensor") == Approx(200 + 1000));
  // Percentages become absolute values first: 25 % of 8000, 10 % of 2000, 40 % of 1000.
  const auto& bound = splits[2];
  CHECK(bound.percent);
  CHECK(bound.by_op.at("Loader") == Approx(2000 + 120));
  CHECK(bound.by_op.at("Crop") == Approx(60));
  CHECK(bound.by_op.at("ToTensor") == Approx(20 + 400));
  CHECK(bound.unmapped == Approx(40));
  CHECK(bound.functions[0].function == "decode_mcu");
}

// Before they split, the published scripts replace each function's value by (the configuration's total) /
// (the function's CPU time), which gives every counter the same split. Ours splits each counter on its own.
TEST_CASE("split: the published mistake does not come out") {
  const auto splits = split_of(kTable);
  for (const auto& split : splits) {
    double whole = 0;
    std::map<std::string, double> wrong;
    for (const auto& function : split.functions) whole += function.value;
    const std::map<std::string, double> cpu = {{"decode_mcu", 4}, {"memmove", 1}, {"copy_kernel", 0.5}};
    for (const auto& [name, seconds] : cpu) {
      const double value = whole / seconds;
      if (name == "decode_mcu") wrong["Loader"] += value;
      if (name == "copy_kernel") wrong["ToTensor"] += value;
      if (name == "memmove") {
        wrong["Loader"] += value * 0.6;
        wrong["Crop"] += value * 0.3;
        wrong["ToTensor"] += value * 0.1;
      }
    }
    const double sum = wrong["Loader"] + wrong["Crop"] + wrong["ToTensor"];
    const double ours = split.by_op.at("Loader") + split.by_op.at("Crop") + split.by_op.at("ToTensor");
    CHECK(split.by_op.at("Loader") / ours > 0.7);
    CHECK(wrong["Loader"] / sum < 0.3);  // the most expensive function got the smallest value
  }
  const auto share = [](const CounterSplit& split) {
    return split.by_op.at("ToTensor") / split.by_op.at("Loader");
  };
  CHECK(share(splits[0]) != Approx(share(splits[2])));
}

TEST_CASE("split: an operation that did not run gets nothing") {
  const Counter counter{"f", "", "count", 10, false};
  const std::vector<MappedFunction> mapped = {{"A", "f", "lib"}, {"B", "f", "lib"}};
  const auto one = split_counters({counter}, mapped, {{"A", 2}});
  CHECK(one[0].by_op.at("A") == Approx(10));
  CHECK(!one[0].by_op.contains("B"));
  const auto none = split_counters({counter}, mapped, {});
  CHECK(none[0].unmapped == Approx(10));
}

TEST_CASE("split: a share needs clockticks") {
  CHECK_THROWS_WITH_AS(split_counters({{"f", "lib", "Bound(%)", 10, true}}, {}, {}),
                       doctest::Contains("export the column Clockticks"), Unusable);
}

TEST_CASE("mapping: both ways") {
  const TemporaryDirectory directory;
  directory.write("map.json", kMapping);
  const auto mapped = read_mapping(directory.path() + "/map.json");
  CHECK(mapped.size() == 5);
  CHECK(mapping_json(mapped) == nlohmann::ordered_json::parse(kMapping));
  CHECK(unknown_ops(mapped, {"Loader", "Crop"}) == std::vector<std::string>{"ToTensor"});
}

TEST_CASE("mapping: what cannot be used is named") {
  CHECK(names(refusal("{", true), "byte 2: is no JSON"));
  CHECK(names(refusal("{}", true), "has no op_to_func"));
  CHECK(names(refusal(R"({"op_to_func": 1e999})", true), "file: holds a number that is too large"));
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CHECK(names(refusal(R"({"op_to_func": {"A": )" + deep + R"(, "B": []}})", true), "too many brackets"));
  CHECK(names(refusal(R"({"op_to_func": []})", true), "op_to_func is no object"));
  CHECK(names(refusal(R"({"op_to_func": {"A": "f|l"}})", true), "op_to_func[A] is no list"));
  CHECK(names(refusal(R"({"op_to_func": {"A": [1]}})", true), "op_to_func[A] holds what is no text"));
  CHECK(names(refusal(R"({"op_to_func": {"A": ["f"]}})", true), "'f' of A names no function and library"));
}

TEST_CASE("counters: separators, units, quotes") {
  const TemporaryDirectory directory;
  directory.write("a",
                  "\xef\xbb\xbf"
                  "Function,CPU Time,Clockticks,L1 Bound\r\n\"f(int, char)\",250ms,\"1,234\",50.0%\r\n");
  const auto counters = read_counters(directory.path() + "/a", {}, [](const std::string&) {});
  REQUIRE(counters.size() == 3);
  CHECK(counters[0] == Counter{"f(int, char)", "", "CPU Time", 0.25, false});
  CHECK(counters[1].value == 1234);
  CHECK(counters[2] == Counter{"f(int, char)", "", "L1 Bound", 50, true});
}

// In the form of the research system's exports of VTune.
constexpr const char* kVtune =
    "Source Function / Function / Call Stack\tCPU Time\tClockticks\tCPI Rate\tFront-End Bound\t"
    "Average CPU Frequency\tModule\tFunction (Full)\tSource File\tStart Address\n"
    "decode\t2006.758s\t6,671,840,000,000\t0.629\t8.7%\t3.3 GHz\t[Unknown]\tdecode\t[Unknown]\t0\n"
    "vec<float>::copy\t1.5s\t1,000,000\t2,133.700\t10.0%\t3.4 GHz\t[Unknown]\tvec<float>::copy(char**, "
    "long)\t"
    "[Unknown]\t0\n"
    "func@0x3fd7b0\t200.135s\t639,664,000,000\t0.475\t2.0%\t3.2 "
    "GHz\t[Unknown]\tfunc@0x3fd7b0\t[Unknown]\t0\n";

TEST_CASE("counters: an export grouped by source function, with frequencies and unknown modules") {
  const TemporaryDirectory directory;
  directory.write("table", kVtune);
  std::vector<std::string> said;
  const auto say = [&](const std::string& sentence) { said.push_back(sentence); };
  const auto counters = read_counters(directory.path() + "/table", {}, say);
  REQUIRE(counters.size() == 9);  // of three functions: CPU time, clockticks, the front end's share
  CHECK(counters[0] == Counter{"decode", "", "CPU Time", 2006.758, false});
  CHECK(counters[1].value == 6671840000000);
  CHECK(counters[2] == Counter{"decode", "", "Front-End Bound", 8.7, true});
  CHECK(counters[3].function == "vec<float>::copy");
  REQUIRE(said.size() == 2);
  CHECK(names(said[0], "'CPI Rate' is left out"));
  CHECK(names(said[1], "'Average CPU Frequency' is left out"));
}

TEST_CASE("counters: of two columns of names the one that the mapping knows, and how much it knows") {
  const TemporaryDirectory directory;
  directory.write("table", kVtune);
  std::string said;
  const auto say = [&](const std::string& sentence) { said += sentence + "\n"; };
  const std::vector<MappedFunction> full{{"ToTensor", "vec<float>::copy(char**, long)", "libtorch_cpu.so"}};
  const auto counters = read_counters(directory.path() + "/table", full, say);
  CHECK(counters[3].function == "vec<float>::copy(char**, long)");
  CHECK(names(said, "only 0.0 % of 'Clockticks' is in functions that the mapping names"));
  said.clear();
  read_counters(directory.path() + "/table", {{"Loader", "decode", "libjpeg.so.9"}}, say);
  CHECK(said.find("only") == said.npos);
}

TEST_CASE("counters: what cannot be used is named") {
  CHECK(names(refusal("", false), "file:1: is empty"));
  CHECK(names(refusal("A,B\n1,2\n", false), "file:1: the heading has no column 'Function'"));
  CHECK(names(refusal("Function,B\nf,1\ng\n", false), "file:3: has 1 columns, the heading 2"));
  CHECK(names(refusal("Function,B\nf,x\n", false), "file:2: 'x' in column 'B' is no number"));
  CHECK(names(refusal("Function,IPC\nf,1\n", false), "file:1: no column is left that can be split"));
  CHECK(names(refusal("Function,B\n,1\n", false), "file:2: names no function"));
}

TEST_CASE("counters and mapping are kept in an imported trace") {
  const TemporaryDirectory logs;
  write_five_batches(logs, "");
  const Imported facts{"", 0, {{"Crop", "resample", "lib"}}, {{"resample", "lib", "Clockticks", 0.1, false}}};
  const ImportedTrace made = import_logs(logs.path(), facts);
  const Trace trace(made.file->path());
  CHECK(trace.catalog.imported.mapped == facts.mapped);
  CHECK(trace.catalog.imported.counters == facts.counters);
}

TEST_CASE("runs to see a function") {
  CHECK(runs_to_see(0.66, 10, 0.75) == 21);  // the published example: 660 µs at 10 ms
  CHECK(runs_to_see(5, 10, 0.75) == 2);      // 1 − 0.5²
  CHECK(runs_to_see(10, 10, 0.75) == 1);
  CHECK(std::isinf(runs_to_see(0, 10, 0.75)));
}
