#include "status.hpp"

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <iterator>

#include "text.hpp"

namespace lotus::collector {
namespace {

// The words of a line, from its beginning.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view next() {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word.size() < rest_.size() ? word.size() + 1 : word.size());
    return word;
  }

  template <std::unsigned_integral... Numbers>
  bool numbers(Numbers&... numbers) {
    return (number(numbers) && ...);
  }

  std::string rest() const { return std::string(rest_); }

 private:
  template <std::unsigned_integral Number>
  bool number(Number& value) {
    const std::string_view word = next();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size();
  }

  std::string_view rest_;
};

bool take_session(Words& words, Status& status) {
  SessionStatus& s = status.sessions.emplace_back();
  const bool good = words.numbers(s.pid, s.events, s.events_a_second, s.bytes, s.lost, s.salvaged, s.damaged,
                                  s.process_count, s.stuck_s);
  s.path = words.rest();
  return good;
}

bool take_process(Words& words, Status& status) {
  if (status.sessions.empty()) return false;
  ProcessStatus& p = status.sessions.back().processes.emplace_back();
  unsigned dead = 0;
  const bool good = words.numbers(p.pid, p.lost, p.fill_percent, dead);
  p.dead = dead != 0;
  return good;
}

bool take_closed(Words& words, Status& status) {
  ClosedStatus& c = status.closed.emplace_back();
  const bool good = words.numbers(c.events, c.lost);
  c.path = words.rest();
  return good;
}

bool take_line(std::string_view line, Status& status) {
  Words words(line);
  const std::string_view what = words.next();
  if (what == "served") return words.numbers(status.now_ns, status.ended);
  if (what == "session") return take_session(words, status);
  if (what == "process") return take_process(words, status);
  if (what == "closed") return take_closed(words, status);
  return false;
}

}  // namespace

std::string to_lines(const Status& status) {
  std::string lines = fmt::format("served {} {}\n", status.now_ns, status.ended);
  const auto out = std::back_inserter(lines);
  for (const SessionStatus& s : status.sessions) {
    fmt::format_to(out, "session {} {} {} {} {} {} {} {} {} {}\n", s.pid, s.events, s.events_a_second,
                   s.bytes, s.lost, s.salvaged, s.damaged, s.process_count, s.stuck_s, printable(s.path));
    for (const ProcessStatus& p : s.processes)
      fmt::format_to(out, "process {} {} {} {}\n", p.pid, p.lost, p.fill_percent, p.dead ? 1 : 0);
  }
  for (const ClosedStatus& c : status.closed)
    fmt::format_to(out, "closed {} {} {}\n", c.events, c.lost, printable(c.path));
  return lines;
}

std::optional<Status> from_lines(std::string_view lines) {
  Status status;
  if (!lines.starts_with("served ")) return std::nullopt;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(line.size() < lines.size() ? line.size() + 1 : line.size());
    if (!take_line(line, status)) return std::nullopt;
  }
  return status;
}

}  // namespace lotus::collector
