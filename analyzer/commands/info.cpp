// `info`: the contents of a trace, and its damage.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "answers/info/description.hpp"
#include "answers/info/hooks.hpp"
#include "commands/command.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct InfoOptions {
  std::vector<std::string> traces;
  bool json = false;
};

class RecordCounter : public Visitor {
 public:
  bool wants_records() const override { return true; }
  void on_record(const Stream& stream, const RecordAt& at) override {
    ++counts[static_cast<std::uint8_t>(at.record.kind)];
    hooks.add(stream.process->number, at.record);
  }
  bool wants_stacks() const override { return true; }
  void on_stack_sample(const Process&, const Record& record, std::uint64_t) override {
    ++counts[static_cast<std::uint8_t>(record.kind)];
  }
  void on_off_cpu(const Process&, const Record& record, std::uint64_t) override {
    ++counts[static_cast<std::uint8_t>(record.kind)];
  }
  void on_definition(const Process& process, const Record& record, std::uint64_t) override {
    ++counts[static_cast<std::uint8_t>(record.kind)];
    hooks.add(process.number, record);
  }

  KindCounts counts{};
  HookTotals hooks;
};

}  // namespace

Run prepare_info(CLI::App& app) {
  const auto options = std::make_shared<InfoOptions>();
  add_traces(app, options->traces);
  app.add_flag("--json", options->json, "one JSON object per trace");
  return [options] {
    Output out;
    for (const auto& path : chosen_traces(options->traces)) {
      Trace trace(path);
      RecordCounter counter;
      const Reading reading = read_trace(trace, counter, true);
      auto json = describe(trace, reading, counter.counts);
      json["hooks"] = counter.hooks.json(trace);
      if (options->json)
        out.write(json_text(json));
      else
        out.write(description_text(json, Terminal::of(out.file())));
    }
    out.close();
  };
}

}  // namespace lotus::analyzer
