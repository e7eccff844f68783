// Mutates text inputs (logs, JSON, tables) by whole parts: numbers, words, values in brackets, lines.
// libFuzzer and driver.cpp look for LLVMFuzzerCustomMutator() in a target.
#include <algorithm>
#include <charconv>
#include <random>
#include <string_view>
#include <utility>

#include "fuzz.hpp"

namespace {

using Random = std::mt19937_64;

struct Part {
  std::size_t begin = 0, end = 0;

  std::size_t size() const { return end - begin; }
};

struct Parts {
  std::vector<Part> numbers, values, lines;  // values: numbers, words, strings, brackets with their content
};

bool is_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '.'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '%'; }

std::size_t end_of_string(const std::string& text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

template <class Is>
std::size_t end_of(const std::string& text, std::size_t at, Is is) {
  while (at < text.size() && is(text[at])) ++at;
  return at;
}

Parts parts_of(const std::string& text) {
  Parts parts;
  std::vector<std::size_t> open;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t begin = at;
    at = c == '"'       ? end_of_string(text, at)
         : is_number(c) ? end_of(text, at, is_number)
                        : end_of(text, at, is_word);
    if (at > begin) parts.values.push_back({begin, at});
    if (is_number(c)) parts.numbers.push_back({begin, at});
    if (at > begin) continue;
    ++at;
    if (c == '[' || c == '{') open.push_back(begin);
    if ((c == ']' || c == '}') && !open.empty()) {
      parts.values.push_back({open.back(), at});
      open.pop_back();
    }
    if (c == '\n') parts.lines.push_back({std::exchange(line, at), at});
  }
  return parts;
}

std::string near(std::string_view number, Random& random) {
  std::int64_t value = 0;
  std::from_chars(number.data(), number.data() + number.size(), value);
  const std::uint64_t distance = random() % (std::uint64_t{1} << (random() % 40));
  return std::to_string(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) +
                                                  (random() % 2 == 0 ? distance : 0 - distance)));
}

std::string awkward(Random& random) {
  static constexpr const char* kNumbers[] = {"0",
                                             "1",
                                             "-1",
                                             "1000",
                                             "1001",
                                             "0.0005",
                                             "1e308",
                                             "1e-9",
                                             "-0",
                                             "4294967296",
                                             "nan",
                                             "1e999",
                                             "1,000",
                                             "50%",
                                             "9223372036854775807",
                                             "-9223372036854775808",
                                             "18446744073709551616",
                                             "2305843009213693951"};
  return kNumbers[random() % std::size(kNumbers)];
}

// Wraps a value in some or very many brackets.
std::string wrapped(const std::string& value, Random& random) {
  const std::size_t depth = random() % 8 == 0 ? 1 + random() % 3000 : 1 + random() % 3;
  if (random() % 2 == 0) return std::string(depth, '[') + value + std::string(depth, ']');
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += "{\"a\":";
  return text + value + std::string(depth, '}');
}

class Change {
 public:
  Change(std::string& text, Random& random) : text_(text), random_(random), parts_(parts_of(text)) {}

  void run() {
    switch (random_() % 8) {
      case 0:
      case 1:
        return replace(parts_.numbers,
                       [&](const Part& part) { return near(at(any(parts_.numbers, part)), random_); });
      case 2:
        return replace(parts_.numbers, [&](const Part&) { return awkward(random_); });
      case 3:
        return replace(parts_.values, [&](const Part& part) { return at(any(parts_.values, part)); });
      case 4:
        return replace(parts_.values, [&](const Part& part) {
          return random_() % 2 == 0 ? wrapped(at(part), random_) : at(part) + "," + at(part);
        });
      case 5:
        return replace(parts_.lines, [](const Part&) { return std::string(); });
      default:
        return replace(parts_.lines, [&](const Part& part) {
          const std::string other = at(any(parts_.lines, part));
          return random_() % 2 == 0 ? other + at(part) : other;
        });
    }
  }

 private:
  std::string at(const Part& part) const { return text_.substr(part.begin, part.size()); }
  Part any(const std::vector<Part>& parts, const Part& otherwise) {
    return parts.empty() ? otherwise : parts[random_() % parts.size()];
  }
  template <class By>
  void replace(const std::vector<Part>& parts, By by) {
    if (parts.empty()) return;
    const Part part = any(parts, {});
    const std::string text = by(part);
    text_.replace(part.begin, part.size(), text);
  }

  std::string& text_;
  Random& random_;
  Parts parts_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  Random random(seed);
  if (size == 0 || random() % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (std::uint64_t n = 1 + random() % 4; n > 0; --n) Change(text, random).run();
  const std::size_t kept = std::min(text.size(), most);
  std::memcpy(data, text.data(), kept);
  return kept;
}
