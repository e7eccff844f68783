// Replaces names by keyed hashes: the same for the same name and key, and not reversible without the key.
#pragma once

#include <sodium.h>

#include <string>
#include <string_view>
#include <unordered_map>

namespace lotus::analyzer {

class Hasher {
 public:
  // Throws Unusable.
  explicit Hasher(std::string_view key);

  // 12 hexadecimal digits of HMAC-SHA-256 (RFC 2104); empty for an empty text.
  std::string text(std::string_view text) const;
  // Hashes each component separately, so that files of one directory stay together. Suffixes of common data
  // files are kept.
  std::string path(std::string_view path);
  // Directories as in path(); the file's own name stays: functions are told apart by their library.
  std::string library(std::string_view path);

 private:
  const std::string& directory(std::string_view name);

  crypto_auth_hmacsha256_state keyed_;  // with the key, before any text
  std::unordered_map<std::string, std::string> directories_;
};

// The key in `file`. Empty: the user's own, in $XDG_CONFIG_HOME/lotus/redact.key, created at the first use:
// 32 random bytes that only the user can read. Throws Unusable.
std::string read_key(const std::string& file);

}  // namespace lotus::analyzer
