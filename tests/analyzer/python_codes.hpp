// Code objects of CPython, as print_codes.py prints them, and the interpreters that do.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "answers/controlflow/code_flow.hpp"

namespace lotus::analyzer::test {

inline std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// Interpreters of this machine, or those that LOTUS_PYTHON names, separated by colons; none of them has to be
// there.
inline std::vector<std::string> interpreters() {
  std::vector<std::string> found;
  if (const char* named = std::getenv("LOTUS_PYTHON"); named != nullptr) {
    std::istringstream paths(named);
    for (std::string path; std::getline(paths, path, ':');) found.push_back(path);
    return found;
  }
  const char* home = std::getenv("HOME");
  const std::filesystem::path versions = std::string(home != nullptr ? home : "") + "/.pyenv/versions";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(versions, error))
    found.push_back((entry.path() / "bin/python3").string());
  for (const char* directory : {"/usr/bin", "/usr/local/bin"})
    for (unsigned minor = controlflow::kOldestMinor; minor <= controlflow::kNewestMinor; ++minor)
      found.push_back(std::string(directory) + "/python3." + std::to_string(minor));
  std::erase_if(found, [](const std::string& path) { return !std::filesystem::exists(path); });
  return found;
}

inline std::string output_of(const std::string& command) {
  std::string out;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  char buffer[1 << 16];
  for (std::size_t read = 1; pipe && read > 0;) {
    read = std::fread(buffer, 1, sizeof buffer, pipe.get());
    out.append(buffer, read);
  }
  return out;
}

// Of one line of print_codes.py. Returns what differs first; empty: nothing.
inline std::string difference(const std::string& text) {
  std::istringstream words(text);
  unsigned minor = 0;
  std::uint64_t first = 0;
  std::string bytecode, table, exceptions, word;
  words >> minor >> first >> bytecode >> table >> exceptions;
  const auto code = controlflow::decoded(minor, from_hex(bytecode));
  if (!code) return "not decoded";
  const auto lines = controlflow::lines_of(minor, *code, table == "-" ? "" : from_hex(table), first);
  std::size_t count = 0;
  while (words >> word) {
    std::uint64_t offset = 0;
    std::uint32_t line = 0;
    long long target = 0;
    if (std::sscanf(word.c_str(), "%llu:%u:%lld", reinterpret_cast<unsigned long long*>(&offset), &line,
                    &target) != 3)
      return "what Python printed: " + word;
    const std::size_t at = controlflow::instruction_at(*code, offset);
    if (at != count++) return "no instruction of its own: " + word;
    if (table != "-" && lines[at] != line) return "line " + std::to_string(lines[at]) + ": " + word;
    const controlflow::Instruction& one = (*code)[at];
    const bool known = one.target != controlflow::kNone;
    if (known && target >= 0 &&
        controlflow::instruction_at(*code, static_cast<std::uint64_t>(target)) != one.target)
      return "target " + std::to_string((*code)[one.target].offset) + ": " + word;
    if (known && target < 0) return "jumps: " + word;
  }
  return count == code->size() ? "" : "number of instructions";
}

}  // namespace lotus::analyzer::test
