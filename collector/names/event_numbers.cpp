#include "names/event_numbers.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <linux/perf_event.h>

#include <cstdio>

#include "names/static_program.hpp"
#include "text.hpp"

namespace lotus::collector {
namespace {

// libpfm4's interface for perf_event_open(2), perfmon/pfmlib_perf_event.h: it is loaded only if somebody
// asks, so that its four megabytes are needed nowhere else.
struct EncodeArgument {
  perf_event_attr* attributes;
  char** full_name;
  std::size_t size;
  int index, cpu, flags, padding;
};
constexpr int kSuccess = 0;
constexpr int kPerfEvent = 1;                    // PFM_OS_PERF_EVENT
constexpr int kKernel = 1 << 0, kUser = 1 << 3;  // PFM_PLM0, PFM_PLM3: both are counted

class Library {
 public:
  Library() {
    if (is_static()) {
      problem_ =
          "this lotus-collector is a static program, which can load no libpfm4: use the number, as r01c2";
      return;
    }
    void* library = dlopen("libpfm.so.4", RTLD_LAZY);
    if (library == nullptr) {
      problem_ = "libpfm4 is not installed (libpfm.so.4): install it, or use the number, as r01c2";
      return;
    }
    const auto begin = reinterpret_cast<int (*)()>(dlsym(library, "pfm_initialize"));
    encode_ = reinterpret_cast<Encode>(dlsym(library, "pfm_get_os_event_encoding"));
    error_text_ = reinterpret_cast<ErrorText>(dlsym(library, "pfm_strerror"));
    if (begin == nullptr || encode_ == nullptr || error_text_ == nullptr)
      problem_ = "libpfm.so.4 is not libpfm4's";
    else if (const int error = begin(); error != kSuccess)
      problem_ = fmt::format("libpfm4 cannot be used here: {}", error_text_(error));
  }

  const std::string& problem() const { return problem_; }

  EventNumbers numbers_of(const std::string& name) const {
    perf_event_attr attributes{};
    EncodeArgument argument{&attributes, nullptr, sizeof(EncodeArgument), 0, -1, 0, 0};
    if (const int error = encode_(name.c_str(), kKernel | kUser, kPerfEvent, &argument); error != kSuccess)
      return refused(fmt::format("libpfm4 for this processor: {}", error_text_(error)));
    if (attributes.type == PERF_TYPE_TRACEPOINT || attributes.type > PERF_TYPE_RAW)
      return refused("it is not counted for a thread");
    if (attributes.exclude_user != 0 || attributes.exclude_kernel != 0)
      return refused(
          "what a program and what the kernel does for it are counted together: leave out :u and :k");
    if (attributes.config2 != 0) return refused("it needs more than two numbers");
    return {attributes.type, attributes.config, attributes.config1, {}, false};
  }

 private:
  using Encode = int (*)(const char* name, int levels, int system, void* argument);
  using ErrorText = const char* (*)(int error);

  static EventNumbers refused(std::string why) { return {0, 0, 0, std::move(why), false}; }

  Encode encode_ = nullptr;
  ErrorText error_text_ = nullptr;
  std::string problem_;
};

}  // namespace

EventNumbers event_numbers(const std::string& name) {
  static const Library library;
  if (!library.problem().empty()) return {0, 0, 0, library.problem(), true};
  return library.numbers_of(name);
}

bool print_event_numbers(std::string_view names) {
  bool all = true;
  for (;;) {
    const std::string name(names.substr(0, names.find(',')));
    const EventNumbers numbers = event_numbers(name);
    const std::string line =
        numbers.problem.empty()
            ? fmt::format("{} {:#x} {:#x} {}\n", numbers.type, numbers.config, numbers.config1,
                          printable(name))
            : fmt::format("{} {}: {}\n", numbers.no_library ? '-' : '?', printable(name), numbers.problem);
    std::fputs(line.c_str(), stdout);
    all = all && numbers.problem.empty();
    if (names.find(',') == std::string_view::npos) return all;
    names.remove_prefix(names.find(',') + 1);
  }
}

}  // namespace lotus::collector
