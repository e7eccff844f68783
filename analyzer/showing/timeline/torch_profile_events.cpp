#include "showing/timeline/torch_profile_events.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/json_writer.hpp"
#include "text/progress.hpp"

namespace lotus::analyzer {
namespace {

using nlohmann::json;

// Receives the parser's tokens. Of an event's members only one is kept as text at a time.
class Tokens : public json::json_sax_t {
 public:
  using Show = std::function<void(const ProfileEvent&)>;

  explicit Tokens(const Show& show) : show_(show) {}

  ProfileFile file;
  std::size_t wrong_at = 0;  // byte, from 1
  bool too_deep = false;

  bool null() override { return value("null"); }
  bool boolean(bool truth) override { return value(truth ? "true" : "false"); }
  bool number_integer(number_integer_t number) override { return value(std::to_string(number)); }
  bool number_unsigned(number_unsigned_t number) override { return value(std::to_string(number)); }
  bool number_float(number_float_t, const string_t& text) override { return value(text); }
  bool string(string_t& text) override {
    if (depth_ == event_depth_) return member_text(text);
    return value(json_string(text));
  }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool start_object(std::size_t) override { return start('{'); }
  bool start_array(std::size_t) override { return start('['); }
  bool end_object() override { return end('}'); }
  bool end_array() override { return end(']'); }

  bool key(string_t& text) override {
    if (captures()) {
      json_.key(text);
    } else if (depth_ == event_depth_ || depth_ == 1) {
      key_ = text;
    }
    return true;
  }

  bool parse_error(std::size_t at, const std::string&, const json::exception&) override {
    wrong_at = at;
    return false;
  }

 private:
  static constexpr int kNowhere = -1;
  static constexpr int kDeepest = 500;  // printing a value again recurses at each bracket

  bool captures() const { return event_depth_ != kNowhere && depth_ > event_depth_; }

  bool value(std::string_view text) {
    if (captures()) {
      json_.json(text);
    } else if (depth_ == event_depth_) {
      member(text);
    } else if (depth_ == 1 && key_ == "baseTimeNanoseconds" && list_depth_ != 1) {
      std::int64_t base = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), base);
      if (error == std::errc() && end == text.data() + text.size()) file.base_ns = base;
    }
    return true;
  }

  bool start(char bracket) {
    if (depth_ >= kDeepest) return !(too_deep = true);
    if (captures()) {
      open(bracket);
    } else if (depth_ == event_depth_) {
      json_.clear();
      open(bracket);
    } else if (bracket == '{' && depth_ == list_depth_) {
      event_ = {};
      event_depth_ = depth_ + 1;
    } else if (bracket == '[' && (depth_ == 0 || (depth_ == 1 && key_ == "traceEvents"))) {
      list_depth_ = depth_ + 1;
      file.listed = true;
    }
    ++depth_;
    return true;
  }

  void open(char bracket) { bracket == '{' ? json_.start_object() : json_.start_array(); }

  bool end(char bracket) {
    --depth_;
    if (event_depth_ == kNowhere) {
      if (depth_ < list_depth_) list_depth_ = kNowhere;
      return true;
    }
    if (depth_ >= event_depth_) bracket == '}' ? json_.end_object() : json_.end_array();
    if (depth_ == event_depth_) member(json_.written());
    if (depth_ < event_depth_) {
      event_depth_ = kNowhere;
      show_(event_);
    }
    return true;
  }

  // A member of an event, its value as JSON.
  void member(std::string_view text) {
    if (key_ == "ts")
      event_.start = ns_of_micros(text);
    else if (key_ == "dur")
      event_.ns = ns_of_micros(text);
    else if (key_ == "pid")
      event_.pid = text;
    else if (key_ == "tid")
      event_.tid = text;
    else if (key_ == "args")
      event_.args = text;
    else
      event_.others.push_back({key_, std::string(text)});
  }

  bool member_text(const std::string& text) {
    if (key_ == "ph")
      event_.phase = text;
    else if (key_ == "name")
      event_.name = text;
    else if (key_ == "cat")
      event_.category = text;
    else
      member(json_string(text));
    return true;
  }

  const Show& show_;
  ProfileEvent event_;
  int depth_ = 0;                                       // open brackets
  int list_depth_ = kNowhere, event_depth_ = kNowhere;  // inside the list of events; inside an event
  std::string key_;
  JsonWriter json_;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File opened(const std::string& path) {
  File file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr)
    throw Unusable(fmt::format("{}: cannot be read: {}; name the profiler's JSON file", escaped(path),
                               std::strerror(errno)));
  unsigned char magic[2] = {};
  const bool gzip = std::fread(magic, 1, 2, file.get()) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  if (gzip) throw Unusable(fmt::format("{}: is compressed by gzip; run gunzip on it first", escaped(path)));
  std::rewind(file.get());
  return file;
}

std::uint64_t size_of(std::FILE* file) {
  std::fseek(file, 0, SEEK_END);
  const long size = std::ftell(file);
  std::rewind(file);
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

}  // namespace

ProfileFile read_profile_events(const std::string& path,
                                const std::function<void(const ProfileEvent&)>& show) {
  const File file = opened(path);
  Progress progress(path, size_of(file.get()));
  const Tokens::Show watched = [&](const ProfileEvent& event) {
    progress.update(static_cast<std::uint64_t>(std::max(0L, std::ftell(file.get()))));
    show(event);
  };
  Tokens tokens(watched);
  const bool parsed = json::sax_parse(file.get(), &tokens);
  if (tokens.too_deep)
    throw Unusable(
        fmt::format("{}: has too many brackets inside each other; is it the file that the profiler "
                    "exported?",
                    escaped(path)));
  if (!parsed)
    throw Unusable(
        fmt::format("{}: is no JSON at byte {}; is it the file that the profiler exported, and whole?",
                    escaped(path), tokens.wrong_at));
  return tokens.file;
}

std::optional<std::int64_t> ns_of_micros(std::string_view text) {
  constexpr std::int64_t kMost = 4'000'000'000'000'000;  // µs: 126 years
  std::int64_t whole = 0;
  const char* const last = text.data() + text.size();
  const bool negative = !text.empty() && text[0] == '-';
  auto [at, error] = std::from_chars(text.data() + (negative ? 1 : 0), last, whole);
  if (error != std::errc() || whole < 0 || whole > kMost) return std::nullopt;
  std::int64_t ns = whole * 1000;
  if (at != last && *at == '.') {
    std::int64_t place = 100;
    for (++at; at != last && *at >= '0' && *at <= '9'; ++at, place /= 10) ns += place * (*at - '0');
  }
  if (at == last) return negative ? -ns : ns;
  // With an exponent.
  double micros = 0;
  const auto [end, wrong] = std::from_chars(text.data(), last, micros);
  const bool plausible = std::abs(micros) <= static_cast<double>(kMost);  // not a number is not
  if (wrong != std::errc() || end != last || !plausible) return std::nullopt;
  return std::llround(micros * 1000);
}

}  // namespace lotus::analyzer
