// The directories where segments may lie. The traced program and the collector call the same function, each
// with its own environment: with the same variables, the collector finds what the program records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/segment.hpp>
#include <string_view>

namespace lotus {

// Directories with longer names are not used, so that a segment's name fits behind them.
inline constexpr std::size_t kMaxPlaceBytes = 1900;

// The variables that decide. Empty: not set.
struct PlaceSettings {
  std::string_view directory;          // LOTUS_DIR
  std::string_view working_directory;  // needed only where LOTUS_DIR is relative
  std::string_view runtime;            // XDG_RUNTIME_DIR
  std::string_view temporary;          // TMPDIR
  std::string_view home;               // HOME
  std::uint32_t user = 0;              // the effective one
  std::uint64_t pid_namespace = 0;     // its inode, 0: unknown
};

inline constexpr int kSegmentPlaces = 4;

// A relative name would mean different directories in processes with different working directories.
constexpr bool is_absolute(std::string_view path) { return path.starts_with('/'); }

// The directory for temporary files; `value`: that of TMPDIR.
constexpr std::string_view temporary_directory(std::string_view value) {
  return is_absolute(value) ? value : std::string_view("/tmp");
}

namespace detail {
// Appends text to a caller's buffer of kMaxPlaceBytes + 1 bytes. Text that does not fit is only counted.
class PlaceText {
 public:
  explicit constexpr PlaceText(char* text) : text_(text) { *text_ = '\0'; }

  constexpr PlaceText& add(std::string_view part) {
    for (const char c : part) add(c);
    return *this;
  }
  constexpr PlaceText& add_number(std::uint64_t number) {
    char digits[20]{};
    std::size_t first = sizeof digits;
    do digits[--first] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return add({digits + first, sizeof digits - first});
  }
  constexpr bool fits() const { return bytes_ <= kMaxPlaceBytes; }

 private:
  constexpr void add(char c) {
    if (++bytes_ > kMaxPlaceBytes) return;
    text_[bytes_ - 1] = c;
    text_[bytes_] = '\0';
  }

  char* text_;
  std::size_t bytes_ = 0;
};
}  // namespace detail

// Writes one of the places, numbered from 0 in order of preference, NUL-terminated. False: this place does
// not exist, but later ones may. If LOTUS_DIR is set, it is the only place. Relative names in the other
// variables are ignored, as the XDG base directory specification demands.
template <std::size_t Size>
constexpr bool segment_place(int place, const PlaceSettings& settings, char (&path)[Size]) {
  static_assert(Size > kMaxPlaceBytes);
  detail::PlaceText text(path);
  const auto add_container = [&] {
    const std::uint64_t inode = settings.pid_namespace;
    if (inode != 0 && inode != kInitialPidNamespace) text.add("-").add_number(inode);
    return text.fits();
  };
  if (!settings.directory.empty()) {
    const bool absolute = is_absolute(settings.directory);
    if (place != 0 || !(absolute || is_absolute(settings.working_directory))) return false;
    if (!absolute) text.add(settings.working_directory).add("/");
    return text.add(settings.directory).fits();
  }
  switch (place) {
    case 0:
      text.add("/dev/shm/lotus-").add_number(settings.user);
      return add_container();
    case 1:
      text.add(settings.runtime).add("/lotus");
      return is_absolute(settings.runtime) && add_container();
    case 2:
      text.add(temporary_directory(settings.temporary)).add("/lotus-").add_number(settings.user);
      return add_container();
    case 3:
      // On a disk, but other users cannot create this name first, as they can in shared directories.
      text.add(settings.home).add("/.lotus");
      return is_absolute(settings.home) && settings.home != "/" && add_container();
    default:
      return false;
  }
}

}  // namespace lotus
