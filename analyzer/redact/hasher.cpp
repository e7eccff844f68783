#include "redact/hasher.hpp"

#include <fmt/format.h>
#include <sha2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>

namespace lotus::analyzer {
namespace {

constexpr std::size_t kBlock = SHA256_BLOCK_LENGTH;
constexpr std::size_t kShownBytes = 6;
constexpr std::size_t kMostDirectories = std::size_t{1} << 16;

using Digest = std::array<std::uint8_t, SHA256_DIGEST_LENGTH>;

Digest sha256(std::string_view first, std::string_view second) {
  SHA2_CTX context;
  Digest digest;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(first.data()), first.size());
  SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(second.data()), second.size());
  SHA256Final(digest.data(), &context);
  return digest;
}

std::string_view as_text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Digest hmac(std::string_view key, std::string_view text) {
  std::string inner(kBlock, '\0');
  if (key.size() > kBlock) {
    const Digest shorter = sha256(key, {});
    std::memcpy(inner.data(), shorter.data(), shorter.size());
  } else {
    std::memcpy(inner.data(), key.data(), key.size());
  }
  std::string outer = inner;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  return sha256(outer, as_text(sha256(inner, text)));
}

// What tells nothing but the kind of a file.
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

std::string Hasher::text(std::string_view text) const {
  if (text.empty()) return {};
  const Digest digest = hmac(key_, text);
  std::string shown;
  for (std::size_t i = 0; i < kShownBytes; ++i) shown += fmt::format("{:02x}", digest[i]);
  return shown;
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
