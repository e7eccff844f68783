#include "reading/input/former_trace.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "reading/input/chosen_traces.hpp"
#include "text/error.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOpened = 16;

struct Candidate {
  fs::path path;
  fs::file_time_type written;
};

// Newest first.
std::vector<Candidate> traces_beside(const fs::path& path) {
  std::vector<Candidate> found;
  std::error_code error;
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    std::error_code ignored;
    if (!is_original_trace(entry.path()) || !entry.is_regular_file(ignored)) continue;
    if (fs::equivalent(entry.path(), path, ignored)) continue;
    found.push_back(
        {path.has_parent_path() ? entry.path() : entry.path().filename(), entry.last_write_time(ignored)});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.written > b.written; });
  if (found.size() > kMostOpened) found.resize(kMostOpened);
  return found;
}

const Process* first_process(const Trace& trace) {
  const auto& processes = trace.catalog.processes();
  return processes.empty() ? nullptr : processes.begin()->second.get();
}

bool tries(const Trace& trace) {
  const auto& processes = trace.catalog.processes();
  return std::any_of(processes.begin(), processes.end(),
                     [](const auto& numbered) { return !numbered.second->tried.empty(); });
}

bool precedes(const Trace& former, const Trace& trace) {
  const Process* a = first_process(former);
  const Process* b = first_process(trace);
  return a != nullptr && b != nullptr && a->arguments == b->arguments && a->directory == b->directory &&
         former.header.created.realtime_ns < trace.header.created.realtime_ns && !tries(former);
}

}  // namespace

std::string former_trace_of(const Trace& trace) {
  std::string latest;
  std::uint64_t created = 0;
  for (const Candidate& candidate : traces_beside(trace.source.path())) {
    try {
      const Trace former(candidate.path.string());
      if (former.header.created.realtime_ns <= created || !precedes(former, trace)) continue;
      created = former.header.created.realtime_ns;
      latest = candidate.path.string();
    } catch (const Unusable&) {
    }
  }
  return latest;
}

}  // namespace lotus::analyzer
