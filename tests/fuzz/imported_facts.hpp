// Checks that facts of other tools survive being stored in a trace.
#pragma once

#include <cmath>
#include <lotus/codec.hpp>

#include "fuzz.hpp"
#include "made_logs.hpp"

namespace lotus::fuzz {

// A string as it is stored in a record, which limits its length.
inline std::string stored(const std::string& text) { return text.substr(0, kMaxStringInRecord); }

inline bool same(const analyzer::Counter& read, const analyzer::Counter& written) {
  return read.function == stored(written.function) && read.library == stored(written.library) &&
         read.name == stored(written.name) && read.percent == written.percent &&
         (read.value == written.value || std::isnan(written.value));
}

inline bool same(const analyzer::MappedFunction& read, const analyzer::MappedFunction& written) {
  return read.op == stored(written.op) && read.function == stored(written.function) &&
         read.library == stored(written.library);
}

// Imports logs together with these facts, and promises that the trace holds them.
inline void check_stored(const analyzer::Imported& facts) {
  using namespace analyzer::test;
  static const TemporaryDirectory* const kLogs = [] {
    static const TemporaryDirectory logs;
    write_five_batches(logs, "b512_gpu2");
    return &logs;
  }();
  const ImportedTrace made = import_logs(kLogs->path(), facts);
  const analyzer::Trace trace(made.file->path());
  const auto check = [](const auto& read, const auto& written) {
    promise(read.size() == written.size(), "the trace holds as many facts");
    for (std::size_t i = 0; i < read.size(); ++i)
      promise(same(read[i], written[i]), "the trace holds each fact");
  };
  check(trace.catalog.imported.mapped, facts.mapped);
  check(trace.catalog.imported.counters, facts.counters);
}

}  // namespace lotus::fuzz
