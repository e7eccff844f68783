// What stat(), lstat() and fstat() tell, by the kernel: before glibc 2.33, libc has no functions of these
// names.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lotus {

// The structure is the kernel's own on the 64-bit machines of Linux. False: errno says why.
inline bool file_status(const char* path, struct stat& status, int flags = 0) {
  return syscall(SYS_newfstatat, AT_FDCWD, path, &status, flags) == 0;
}
inline bool descriptor_status(int descriptor, struct stat& status) {
  return syscall(SYS_fstat, descriptor, &status) == 0;
}

}  // namespace lotus
