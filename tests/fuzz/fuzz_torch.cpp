// A profile of the PyTorch profiler (`timeline --merge`) with arbitrary content: the timelines that it is
// merged into are valid.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

#include "fuzz.hpp"
#include "made_trace.hpp"
#include "showing/timeline/chrome.hpp"
#include "showing/timeline/drawing.hpp"
#include "showing/timeline/perfetto.hpp"
#include "showing/timeline/torch_profile.hpp"
#include "text/error.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

analyzer::Bytes made_trace() {
  MadeTrace made;
  made.loader(1, 0);
  made.iterator(1, 1);
  ThreadWriter main(made, 1, 1);
  span<Kind::next>(main, 1, 9, 1, 0);
  main.flush();
  made.close();
  return made.bytes;
}

void draw_chrome(std::int64_t start, const Lanes& lanes, const TorchProfile& profile) {
  const fuzz::MemoryFile file;
  Output out(file.path());
  ChromeTimeline("trace", std::min(start, profile.first()), lanes, out).finish(&profile);
  out.close();
  std::ifstream written(file.path());
  fuzz::promise(nlohmann::json::accept(written), "a timeline is JSON");
}

void draw_perfetto(std::int64_t start, const Lanes& lanes, const TorchProfile& profile) {
  Output out("/dev/null");
  PerfettoTimeline(start, lanes, out).finish(&profile);
  out.close();
}

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
  const std::string old_form = R"({"schemaVersion":1,"traceEvents":[
{"ph":"M","name":"process_name","pid":100,"tid":0,"args":{"name":"python"}},
{"ph":"M","name":"thread_name","pid":100,"tid":100,"args":{"name":"thread 100, python"
}
},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":100,"tid":100,"ts":1700000000001000.25,"dur":2.5,"args":{"External id":7,"Input Dims":[[2,3],[]],"scale":1.5,"flag":true,"none":null}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":100,"tid":100,"ts":1700000000001001,"dur":1,"args":{"correlation":9}},
{"ph":"X","cat":"kernel","name":"gemm<float>","pid":0,"tid":7,"ts":1700000000001002,"dur":3,"args":{"correlation":9,"stream":7}},
{"ph":"s","id":9,"cat":"ac2g","name":"ac2g","pid":100,"tid":100,"ts":1700000000001001},
{"ph":"f","id":9,"cat":"ac2g","name":"ac2g","pid":0,"tid":7,"ts":1700000000001002,"bp":"e"},
{"ph":"i","name":"Iteration","s":"g","pid":"Traces","tid":"Trace PyTorch Profiler","ts":1700000000005000}
],"traceName":"a.json"
}
)";
  const std::string new_form =
      R"({"baseTimeNanoseconds":1699999999000000000,"displayTimeUnit":"ms","traceEvents":[
{"ph":"X","cat":"user_annotation","name":"step \"1\" é","pid":100,"tid":101,"ts":1001000.25,"dur":-1},
{"ph":"X","cat":"python_function","name":"f","pid":"Spans","tid":{"x":[]},"ts":1.001e6,"dur":1}
]}
)";
  return {{old_form.begin(), old_form.end()}, {new_form.begin(), new_form.end()}};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFile trace_file(made_trace());
  static Trace trace(trace_file.path());
  const fuzz::MemoryFile file(fuzz::Bytes(data, data + size));
  try {
    const TorchProfile profile(file.path());
    Lanes lanes;
    Outline outline(lanes);
    const Reading reading = show(trace, outline);
    outline.settle();
    for (const auto& [number, process] : trace.catalog.processes()) lanes.pid_of(*process);
    profile.check_same_run("trace", trace.clock.ns(reading.whole.first), trace.clock.ns(reading.whole.last),
                           lanes);
    draw_chrome(start_of(trace, reading), lanes, profile);
    draw_perfetto(start_of(trace, reading), lanes, profile);
  } catch (const Unusable&) {
  }
  return 0;
}
