/* Functions that burn CPU time. Each call is measured with the thread's CPU clock, so true shares are known.
 *
 * Functions are identified by their index in `functions` below. Compiled with LATE this is a second library
 * with one function of its own.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

#define FUNCTION(name, step)                                          \
  __attribute__((noinline)) void name(long rounds) {                  \
    unsigned long value = 1;                                          \
    for (long i = 0; i < rounds; ++i) {                               \
      value = value * 6364136223846793005UL + step;                   \
      __asm__ volatile("" : "+r"(value)); /* keeps every round */    \
    }                                                                 \
  }

static long cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

#ifdef LATE

FUNCTION(burn_late, 13)
static void (*const functions[])(long) = {[6] = burn_late};

#else

FUNCTION(burn_first, 1)
FUNCTION(burn_shared, 3)
FUNCTION(burn_second, 5)
FUNCTION(burn_brief, 7)
static FUNCTION(burn_pooled, 11) /* not exported */

/* Has no unwind information, and its frame pointer does not lead to the caller. */
void burn_by_hand(long rounds);
__asm__(
    ".text\n.p2align 4\n.globl burn_by_hand\n.type burn_by_hand, @function\nburn_by_hand:\n"
    "  push %rbp\n  push %rbx\n  sub $40, %rsp\n  mov $1, %ebx\n  xor %ebp, %ebp\n"
    "1: imul $69069, %rbx, %rbx\n  add $9, %rbx\n  sub $1, %rdi\n  jg 1b\n"
    "  add $40, %rsp\n  pop %rbx\n  pop %rbp\n  ret\n.size burn_by_hand, . - burn_by_hand\n");

static void (*const functions[])(long) = {burn_first, burn_shared, burn_second, burn_brief, burn_by_hand, burn_pooled};

#endif

/* Calls a function; returns its CPU time in ns. */
long burn(int function, long rounds) {
  const long begin = cpu_ns();
  functions[function](rounds);
  return cpu_ns() - begin;
}

/* Calls `count` functions one after the other; adds the CPU time of each, in ns, to its own `spent`. */
void burn_pieces(int count, const int *function, const long *rounds, long *spent) {
  long before = cpu_ns();
  for (int i = 0; i < count; ++i) {
    functions[function[i]](rounds[i]);
    const long now = cpu_ns();
    spent[function[i]] += now - before;
    before = now;
  }
}

#ifndef LATE

#define HELPERS 2
static pthread_barrier_t begin_job, end_job;
static struct {
  long rounds;
  long spent[HELPERS]; /* in burn_pooled */
  long all[HELPERS];   /* of the thread, since its start */
} job;

static void *help(void *place) {
  const long own = (long)place;
  for (;;) {
    pthread_barrier_wait(&begin_job);
    job.spent[own] = burn(5, job.rounds);
    job.all[own] = cpu_ns();
    pthread_barrier_wait(&end_job);
  }
  return NULL;
}

/* Starts helper threads that wait for jobs. */
void start_pool(void) {
  pthread_barrier_init(&begin_job, NULL, HELPERS + 1);
  pthread_barrier_init(&end_job, NULL, HELPERS + 1);
  for (long i = 0; i < HELPERS; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, help, (void *)i);
    pthread_detach(thread);
  }
}

/* Runs burn_pooled in each helper while the caller waits. Sets spent[0] to the CPU time in burn_pooled, and
 * spent[1] to the CPU time of the helpers since their last job: in ns, summed over all helpers. */
void burn_in_pool(long rounds, long spent[2]) {
  long before = 0;
  for (int i = 0; i < HELPERS; ++i) before += job.all[i];
  job.rounds = rounds;
  pthread_barrier_wait(&begin_job);
  pthread_barrier_wait(&end_job);
  spent[0] = 0;
  spent[1] = -before;
  for (int i = 0; i < HELPERS; ++i) {
    spent[0] += job.spent[i];
    spent[1] += job.all[i];
  }
}

#endif
