// The slowest samples, and a random choice of all, with the bytes that each read from its files.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "answers/stats/slowest.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

class SampleGallery : public Visitor {
 public:
  static constexpr std::size_t kSlowest = 50;
  static constexpr std::size_t kChosen = 4000;

  // Before each trace, which must live as long as this.
  void begin(const Trace& trace);

  void on_span(const Span& span) override;
  void on_native(const Stream& stream, const Record& record) override;

  // {"seen", "left_out", "with_bytes", "ops": [name], "slowest": [...], "chosen": {"count", "ms", "bytes",
  // "op"}}; bytes negative: not known; op: position in "ops", 65535 none.
  nlohmann::ordered_json json() const;

 private:
  struct Sample {
    double ns = 0, bytes = -1;
    std::int64_t index = -1;
    std::uint32_t pid = 0;
    std::int64_t worker = -1;
    bool first = false;  // of its worker: shown only if there are too few others
    std::size_t op = SIZE_MAX;
    std::string path;
  };
  void keep(Sample sample, const Span& span);
  void keep_slow(Sample sample, const Span& span);
  std::size_t name_of(const Op* op);
  bool reads_files(const Process& process, std::uint64_t hook);

  const Trace* trace_ = nullptr;
  std::unordered_map<const Stream*, double> bytes_;  // read by the open sample
  std::unordered_map<const Process*, std::vector<bool>> file_hooks_;
  std::unordered_map<const Op*, std::size_t> names_;
  std::map<std::string, std::size_t> ids_;
  std::vector<std::string> ops_;
  std::uint64_t seen_ = 0, firsts_ = 0, with_bytes_ = 0;
  Slowest<Sample, kSlowest> slowest_;
  std::vector<Sample> chosen_;
  std::minstd_rand random_;  // default seed: the choice is reproducible
};

}  // namespace lotus::analyzer
