// For LD_PRELOAD: a thread that reads a CPU clock loses its core for 1 ms, as it may on a busy machine.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* time) {
  if (clock == CLOCK_THREAD_CPUTIME_ID) {
    const struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
  }
  return (int)syscall(SYS_clock_gettime, clock, time);
}
