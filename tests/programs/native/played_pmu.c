/* A PMU for machines without one: plays perf_event_open(2) for what calls it through libc's syscall(), as
 * liblotus.so does. Each event is exact: so much for each ns of CPU time of the thread that reads it.
 *
 *   cc -shared -fPIC -o played_pmu.so played_pmu.c; LD_PRELOAD="liblotus.so played_pmu.so" program
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 4096 };

static struct Event {
  uint64_t number; /* 0: none of ours */
  uint64_t type, config, leader;
} by_number[kMost];
static uint64_t events;
/* Descriptors move: an eventfd holds the number of its event. */
static uint64_t number_of(long (*real)(long, ...), int descriptor) {
  uint64_t number = 0;
  char path[64], text[256];
  /* /proc says an eventfd's count without taking it. */
  strcpy(path, "/proc/thread-self/fdinfo/");
  char* at = path + strlen(path);
  char digits[16];
  int n = 0;
  if (descriptor < 0) return 0;
  do digits[n++] = (char)('0' + descriptor % 10);
  while ((descriptor /= 10) != 0);
  while (n > 0) *at++ = digits[--n];
  *at = '\0';
  const long file = real(SYS_openat, -100, path, 0);
  if (file < 0) return 0;
  const long got = real(SYS_read, file, text, sizeof text - 1);
  real(SYS_close, file);
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* count = strstr(text, "eventfd-count:");
  if (count == NULL) return 0;
  for (count += 14; *count == ' ' || *count == '\t'; ++count) {}
  for (; *count != '\n' && *count != '\0'; ++count)
    number = number * 16 + (uint64_t)(*count <= '9' ? *count - '0' : *count - 'a' + 10);
  return number < kMost && by_number[number].number == number ? number : 0;
}

/* What an event counts in a ns: of a core of 4 GHz with 8 slots a cycle, an operation for every second
 * slot, 10 % of the slots lost to the front end, 35 % to the back end (four fifths of it to memory), 5 % to
 * wrong speculation. */
static double rate_of(uint64_t type, uint64_t config) {
  if (type == PERF_TYPE_HARDWARE && config == PERF_COUNT_HW_CPU_CYCLES) return 4;
  if (type == PERF_TYPE_HARDWARE && config == PERF_COUNT_HW_INSTRUCTIONS) return 12;
  if (type == PERF_TYPE_HARDWARE) return 0.01;
  switch (config) {
    case 0xc1: /* ex_ret_ops */
      return 16;
    case 0x7aa: /* de_src_op_disp.all */
      return 17.6;
    case 0x1000001a0: /* no_ops_from_frontend */
      return 3.2;
    case 0x100001ea0: /* backend_stalls */
      return 11.2;
    case 0xa2d6: /* load_not_complete */
      return 0.8;
    case 0x2d6: /* not_complete */
      return 1;
    default:
      return 0.1;
  }
}

long syscall(long number, ...) {
  static long (*real)(long, ...);
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; ++i) a[i] = va_arg(arguments, long);
  va_end(arguments);
  if (real == NULL) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  if (number == SYS_perf_event_open) {
    const struct perf_event_attr* attributes = (const struct perf_event_attr*)a[0];
    if (attributes->type != PERF_TYPE_HARDWARE && attributes->type != PERF_TYPE_RAW) {
      errno = ENOENT;
      return -1;
    }
    const uint64_t leader = a[3] < 0 ? 0 : number_of(real, (int)a[3]);
    const uint64_t made = __atomic_add_fetch(&events, 1, __ATOMIC_SEQ_CST);
    if (made >= kMost) {
      errno = EMFILE;
      return -1;
    }
    by_number[made] = (struct Event){made, attributes->type, attributes->config, leader};
    return eventfd((unsigned)made, EFD_CLOEXEC);
  }
  if (number == SYS_ioctl && (unsigned long)a[1] == PERF_EVENT_IOC_ID) {
    const uint64_t event = number_of(real, (int)a[0]);
    if (event == 0) {
      errno = ENOTTY;
      return -1;
    }
    *(uint64_t*)a[2] = event;
    return 0;
  }
  const uint64_t leader = number == SYS_read ? number_of(real, (int)a[0]) : 0;
  if (leader != 0) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const double ns = 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
    uint64_t* to = (uint64_t*)a[1];
    uint64_t members = 0;
    to[1] = to[2] = (uint64_t)ns;
    for (uint64_t event = leader; event < kMost && by_number[event].number != 0; ++event)
      if (event == leader || by_number[event].leader == leader)
        to[3 + members++] = (uint64_t)(ns * rate_of(by_number[event].type, by_number[event].config));
    to[0] = members;
    return (long)((3 + members) * sizeof *to);
  }
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
