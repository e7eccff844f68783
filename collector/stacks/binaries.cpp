#include "binaries.hpp"

#include <fmt/format.h>

#include <climits>

namespace lotus::collector {
namespace {

constexpr std::size_t kMaxGap = 4096;  // ids whose definitions may be damaged in the file

std::string link_target(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), target, sizeof target);
  return {target, size > 0 ? static_cast<std::size_t>(size) : 0};
}

// The prefix of paths in a process that has another root directory than the collector; empty if it has not.
std::string root_of(std::uint32_t pid) {
  const std::string process = fmt::format("/proc/{}", pid);
  const bool same = link_target(process + "/ns/mnt") == link_target("/proc/self/ns/mnt") &&
                    link_target(process + "/root") == link_target("/proc/self/root");
  return same ? "" : process + "/root";
}

std::unique_ptr<ElfFile> open_same(const std::string& path, const std::string& build_id) {
  auto file = ElfFile::open(path);
  return file && file->build_id() == build_id ? std::move(file) : nullptr;
}

std::unique_ptr<ElfFile> open_binary(const Binary& binary) {
  if (binary.path.find("vdso") != std::string::npos && !binary.path.starts_with('/')) {
    auto vdso = ElfFile::vdso();
    return vdso && vdso->build_id() == binary.build_id ? std::move(vdso) : nullptr;
  }
  if (!binary.path.starts_with('/')) return nullptr;
  if (const std::string root = root_of(binary.pid); !root.empty())
    if (auto file = open_same(root + binary.path, binary.build_id)) return file;
  return open_same(binary.path, binary.build_id);
}

}  // namespace

BinaryId Binaries::add(const std::string& path, const std::string& build_id, std::uint32_t pid) {
  const std::string key = build_id.empty() ? "/" + path : build_id;
  const auto [place, is_new] = ids_.try_emplace(key, static_cast<BinaryId>(all_.size() + 1));
  if (is_new) all_.push_back({{path, build_id, pid}, nullptr, false});
  add_process(place->second, pid);
  return place->second;
}

void Binaries::add_process(BinaryId id, std::uint32_t pid) {
  Entry& entry = all_[id - 1];
  if (entry.file || entry.info.pid == pid) return;
  entry.info.pid = pid;  // this process may find it where the other did not
  entry.tried = false;
}

bool Binaries::restore(BinaryId id, const std::string& path, const std::string& build_id) {
  if (id == 0 || id > all_.size() + kMaxGap || id > kMaxBinaries) return false;
  if (id > all_.size()) all_.resize(id);
  all_[id - 1].info = {path, build_id, 0};
  ids_.try_emplace(build_id.empty() ? "/" + path : build_id, id);
  return true;
}

const ElfFile* Binaries::file(BinaryId id) {
  if (id == 0 || id > all_.size()) return nullptr;
  Entry& entry = all_[id - 1];
  if (!entry.tried) {
    entry.tried = true;
    entry.file = open_binary(entry.info);
  }
  return entry.file.get();
}

}  // namespace lotus::collector
