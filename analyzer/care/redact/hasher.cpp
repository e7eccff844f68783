#include "care/redact/hasher.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "text/error.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::size_t kShownBytes = 6;
constexpr std::size_t kMostDirectories = std::size_t{1} << 16;

// libsodium takes text as bytes.
const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Suffixes that reveal only the kind of a file.
constexpr std::string_view kSuffixes[] = {
    ".arrow", ".avi", ".bin",  ".bmp", ".bz2",  ".csv",  ".dcm",  ".feather",  ".flac",    ".gif",
    ".gz",    ".h5",  ".hdf5", ".jp2", ".jpeg", ".jpg",  ".json", ".jsonl",    ".lmdb",    ".m4a",
    ".mkv",   ".mov", ".mp3",  ".mp4", ".nii",  ".npy",  ".npz",  ".ogg",      ".parquet", ".pkl",
    ".png",   ".ppm", ".pt",   ".pth", ".py",   ".rec",  ".tar",  ".tfrecord", ".tif",     ".tiff",
    ".txt",   ".wav", ".webp", ".xml", ".xz",   ".yaml", ".zarr", ".zip",      ".zst"};

std::string_view known_suffix(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  std::string lower(name.substr(dot));
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool known = std::find(std::begin(kSuffixes), std::end(kSuffixes), lower) != std::end(kSuffixes);
  return known ? name.substr(dot) : std::string_view{};
}

}  // namespace

Hasher::Hasher(std::string_view key) {
  if (sodium_init() < 0) throw Unusable("libsodium, which makes the hashes, does not work on this machine");
  crypto_auth_hmacsha256_init(&keyed_, unsigned_bytes(key), key.size());
}

std::string Hasher::text(std::string_view text) const {
  if (text.empty()) return {};
  crypto_auth_hmacsha256_state state = keyed_;
  std::array<unsigned char, crypto_auth_hmacsha256_BYTES> digest;
  crypto_auth_hmacsha256_update(&state, unsigned_bytes(text), text.size());
  crypto_auth_hmacsha256_final(&state, digest.data());
  char digits[2 * kShownBytes + 1];
  return sodium_bin2hex(digits, sizeof digits, digest.data(), kShownBytes);
}

const std::string& Hasher::directory(std::string_view name) {
  if (directories_.size() >= kMostDirectories) directories_.clear();
  auto& slot = directories_[std::string(name)];
  if (slot.empty()) slot = text(name);
  return slot;
}

std::string Hasher::path(std::string_view path) {
  std::string hashed;
  for (;;) {
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) break;
    if (slash > 0) hashed += directory(path.substr(0, slash));
    hashed += '/';
    path.remove_prefix(slash + 1);
  }
  const std::string_view suffix = known_suffix(path);
  path.remove_suffix(suffix.size());
  return hashed + text(path) + std::string(suffix);
}

std::string Hasher::library(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return std::string(path);
  return this->path(path.substr(0, slash + 1)) + std::string(path.substr(slash + 1));
}

}  // namespace lotus::analyzer
