#include "text/function_name.hpp"

#include <optional>
#include <vector>

#include "text/utf8.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::size_t kShortArgument = 16;  // characters
constexpr int kDeepest = 16;                // nested brackets that are read
constexpr std::size_t kLongestName = 120;   // columns
constexpr std::string_view kOperator = "operator", kThunk = "thunk to ", kClone = " [clone ";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// Whether `rest` starts with a token that may follow a function's parameters or a type.
bool is_qualifier(std::string_view rest) {
  for (const std::string_view word : {"const", "volatile", "noexcept"})
    if (rest.starts_with(word) && (rest.size() == word.size() || !is_word(rest[word.size()]))) return true;
  return rest.starts_with('&') || rest.starts_with('>');
}

bool is_one_of(char c, std::string_view some) { return some.find(c) != std::string_view::npos; }

// Whether a template's arguments name the function that it runs: a lambda, or the address of a function.
bool mention_function(std::string_view arguments) {
  const auto has = [&](std::string_view what) { return arguments.find(what) != std::string_view::npos; };
  return has("{lambda") || has("{closure") || has(" &") || arguments.starts_with('&');
}

// The position behind the operator name (as operator<<) that begins at `at`; `at` if there is none.
std::size_t after_operator(std::string_view name, std::size_t at) {
  if (!name.substr(at).starts_with(kOperator) || (at > 0 && is_word(name[at - 1]))) return at;
  constexpr std::string_view kSymbols[] = {
      // longest first
      "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&",
      "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=", "|=", "->"};
  const std::size_t end = at + kOperator.size();
  for (const std::string_view symbol : kSymbols)
    if (name.substr(end).starts_with(symbol)) return end + symbol.size();
  return end < name.size() && is_one_of(name[end], "+-*/%^&|~!=<>,") ? end + 1 : end;
}

// The positions where the brackets of a name close. < and > are brackets too, except in the names of
// operators, in expressions and in Python's own names.
class Brackets {
 public:
  explicit Brackets(std::string_view name) : closes_(name.size(), 0) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const std::size_t begin = i;
      i = after_operator(name, i);
      if (i == name.size()) break;
      const bool arguments = name[i] == '<' && (i != begin || opens_arguments(name, i));
      if (arguments || is_one_of(name[i], "({[")) open.push_back(i);
      if (!is_one_of(name[i], ">)}]")) continue;
      const char partner = name[i] == '>' ? '<' : name[i] == ')' ? '(' : name[i] == '}' ? '{' : '[';
      if (partner != '<')
        while (!open.empty() && name[open.back()] == '<') open.pop_back();
      if (open.empty() || name[open.back()] != partner) {
        if (partner == '<') continue;
        return;
      }
      closes_[open.back()] = i;
      open.pop_back();
    }
    balanced_ = open.empty();
  }

  bool balanced() const { return balanced_; }
  bool opens(std::size_t at) const { return closes_[at] != 0; }
  std::size_t close(std::size_t at) const { return closes_[at]; }

 private:
  static bool opens_arguments(std::string_view name, std::size_t at) {
    return at == 0 || is_word(name[at - 1]) || is_one_of(name[at - 1], " <,(&:*");
  }

  std::vector<std::size_t> closes_;  // 0: no bracket opens here
  bool balanced_ = false;
};

struct Range {
  std::size_t begin, end;
};

// A part of a name between two ::.
struct Component {
  Range word;                      // with braces, if it is a lambda or has no name
  std::optional<Range> arguments;  // of a template, without brackets
};

// The parts of a lambda's {lambda(int)#2}.
struct Lambda {
  std::string_view kind, number, parameters;
};

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name), brackets_(name) {}

  bool understands() const { return brackets_.balanced(); }
  std::string whole() const { return text_of(components({0, name_.size()}), kDeepest); }

 private:
  std::string_view text(Range range) const { return name_.substr(range.begin, range.end - range.begin); }

  // The position behind the token at `at`; a pair of brackets with its content is one token.
  std::size_t next(std::size_t at) const { return (brackets_.opens(at) ? brackets_.close(at) : at) + 1; }

  std::vector<Component> components(Range range) const;
  std::vector<Range> pieces(Range range) const;
  std::optional<Lambda> lambda_of(const Component& component) const;
  std::string lambda_text(const std::vector<Component>& components, std::size_t& at) const;
  std::string text_of(const std::vector<Component>& components, int deepest) const;
  std::string arguments_text(Range arguments, int deepest) const;
  std::optional<std::string> function_text(Range arguments, int deepest) const;

  std::string_view name_;
  Brackets brackets_;
};

// The name's part without return type, unnamed namespaces and everything behind the parameters.
std::vector<Component> Reader::components(Range range) const {
  std::vector<Component> found;
  Component now{{range.begin, range.end}, {}};
  bool named = false;  // the end of the word is known
  const auto end_word = [&](std::size_t at) {
    if (!named) now.word.end = at;
    named = true;
  };
  const auto begin_word = [&](std::size_t at) {
    now = {{at, range.end}, {}};
    named = false;
  };
  const auto keep = [&](std::size_t at) {
    end_word(at);
    if (now.word.end > now.word.begin) found.push_back(now);
  };
  std::size_t i = range.begin;
  while (i < range.end) {
    const bool first = i == now.word.begin;
    const char c = name_[i];
    if (const std::size_t behind = after_operator(name_, i); behind != i) {
      const bool converts = behind == i + kOperator.size();  // operator unsigned long
      i = behind;
      while (converts && i < range.end && !is_one_of(name_[i], "(<[:")) ++i;
      if (name_.substr(i, range.end - i).starts_with(" <")) ++i;  // operator< <int>
      end_word(i);
      continue;
    }
    if (c == '(' && first) {  // (anonymous namespace)
      i = next(i);
      begin_word(i);
      continue;
    }
    const bool of_word = !first && !named && is_one_of(name_[i - 1], ".-");  // Go's main.(*Server).serve
    if (brackets_.opens(i) && !first && !of_word && c != '{') {
      end_word(i);
      if (c == '<' && !now.arguments) now.arguments = {i + 1, brackets_.close(i)};
    }
    if (c == ':' && i + 1 < range.end && name_[i + 1] == ':') {
      keep(i);
      i += 2;
      begin_word(i);
      continue;
    }
    if (c == ' ') {
      if (is_qualifier(name_.substr(i + 1, range.end - i - 1))) {
        end_word(i);
      } else {
        found.clear();
        begin_word(i + 1);
      }
    }
    i = next(i);
    if (first && c == '{') end_word(i);
  }
  keep(range.end);
  return found;
}

// The parts between commas.
std::vector<Range> Reader::pieces(Range range) const {
  std::vector<Range> found;
  std::size_t begin = range.begin;
  for (std::size_t i = range.begin; i < range.end; i = next(i)) {
    if (name_[i] != ',') continue;
    found.push_back({begin, i});
    begin = i + 1 < range.end && name_[i + 1] == ' ' ? i + 2 : i + 1;
  }
  found.push_back({begin, range.end});
  return found;
}

std::optional<Lambda> Reader::lambda_of(const Component& component) const {
  std::string_view word = text(component.word);
  if (!word.starts_with("{lambda") && !word.starts_with("{closure")) return {};
  word = word.substr(1, word.size() - 2);
  Lambda lambda;
  if (const std::size_t hash = word.rfind('#'); hash != std::string_view::npos) {
    lambda.number = word.substr(hash + 1);
    word = word.substr(0, hash);
  }
  const std::size_t open = word.find('(');
  lambda.kind = word.substr(0, open);
  if (open != std::string_view::npos && word.ends_with(')'))
    lambda.parameters = word.substr(open + 1, word.size() - open - 2);
  return lambda;
}

// {lambda#2.1(float)} of the lambda at `at` and of those in it; leaves `at` at their last component.
std::string Reader::lambda_text(const std::vector<Component>& components, std::size_t& at) const {
  const auto is_there = [&](std::size_t i) { return i < components.size(); };
  std::string numbers;
  std::optional<Lambda> lambda, inner = lambda_of(components[at]);
  while (inner) {
    lambda = inner;
    inner.reset();
    numbers.append(numbers.empty() ? "" : ".").append(lambda->number);
    const bool called = is_there(at + 1) && text(components[at + 1].word) == "operator()";
    if (!called) break;
    if (is_there(at + 2)) inner = lambda_of(components[at + 2]);
    at += inner ? 2 : 1;
  }
  std::string out = "{" + std::string(lambda->kind);
  if (!numbers.empty() && numbers != "1") out.append("#").append(numbers);
  if (!lambda->parameters.empty()) {
    const bool kept = lambda->parameters.size() <= kShortArgument;
    out.append("(").append(kept ? lambda->parameters : "…").append(")");
  }
  return out + "}";
}

std::string Reader::text_of(const std::vector<Component>& components, int deepest) const {
  std::string out;
  for (std::size_t i = 0; i < components.size(); ++i) {
    if (lambda_of(components[i])) {
      out += lambda_text(components, i);
      continue;
    }
    const std::optional<Range>& arguments = components[i].arguments;
    if (arguments && mention_function(text(*arguments)))
      out.clear();  // the function that it runs is more informative than its scope
    if (!out.empty()) out += "::";
    out += text(components[i].word);
    if (arguments) out += arguments_text(*arguments, deepest - 1);
  }
  return out;
}

// Template arguments with brackets; empty if none is short enough to show.
std::string Reader::arguments_text(Range arguments, int deepest) const {
  if (mention_function(text(arguments))) {
    const auto function = function_text(arguments, deepest);
    return function ? "<" + *function + ">" : "";
  }
  std::string out;
  bool all = true;
  for (const Range piece : pieces(arguments)) {
    const bool kept = piece.end - piece.begin <= kShortArgument;
    if (kept) out.append(out.empty() ? "" : ", ").append(text(piece));
    all = all && kept;
  }
  if (out.empty()) return {};
  return "<" + out + (all ? ">" : ", …>");
}

// The first function that the arguments name, at any depth of nesting, without its scope.
std::optional<std::string> Reader::function_text(Range arguments, int deepest) const {
  if (deepest <= 0) return {};
  for (const Range piece : pieces(arguments)) {
    if (!mention_function(text(piece))) continue;
    const bool address = name_[piece.begin] == '&';
    const bool bracketed = address && piece.end - piece.begin > 2 && brackets_.opens(piece.begin + 1);
    std::vector<Component> parts =
        components(bracketed ? Range{piece.begin + 2, brackets_.close(piece.begin + 1)}
                             : Range{piece.begin + (address ? 1 : 0), piece.end});
    std::size_t first = 0;
    while (first < parts.size() && !lambda_of(parts[first])) ++first;
    if (first < parts.size() || (address && first > 0)) {
      std::size_t home = first > 0 ? first - 1 : 0;
      if (home > 0 && text(parts[home].word).starts_with(kOperator))
        --home;  // an operator is unclear without its class
      parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(home));
      return text_of(parts, deepest - 1);
    }
    for (std::size_t i = piece.begin; i < piece.end; i = next(i))
      if (brackets_.opens(i))
        if (auto found = function_text({i + 1, brackets_.close(i)}, deepest - 1)) return found;
  }
  return {};
}

}  // namespace

std::string readable_function(std::string_view name) {
  const std::size_t thunk = name.rfind(kThunk), clone = name.find(kClone);
  const std::size_t begin = thunk == std::string_view::npos ? 0 : thunk + kThunk.size();
  const std::size_t end = clone == std::string_view::npos || clone < begin ? name.size() : clone;
  const std::string_view function = name.substr(begin, end - begin);
  if (function.find_first_of("(<:") == std::string_view::npos) return shortened(name, kLongestName);
  const Reader reader(function);
  std::string text = reader.understands() ? reader.whole() : std::string();
  if (text.empty()) text = function;
  return shortened(std::string(name.substr(0, begin)) + text + std::string(name.substr(end)), kLongestName);
}

}  // namespace lotus::analyzer
