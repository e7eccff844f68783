// A library that only the RUNPATH of libhostile.so finds.
#include <fcntl.h>
#include <unistd.h>

int answer(int number) {
  char byte = 0;
  const int file = open("/proc/self/stat", O_RDONLY);
  const long bytes = file < 0 ? 0 : read(file, &byte, 1);
  if (file >= 0) close(file);
  return 100 + number + (int)bytes;
}
