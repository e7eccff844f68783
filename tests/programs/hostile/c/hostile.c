// The native code of native.py and of other programs for test_hostile.py.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int burn_ms(int ms) {
  struct timespec now, begin;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < ms * 1000000L);
  return ms;
}

long bytes_of(const char* path) {
  char buffer[256];
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const long bytes = file < 0 ? -1 : read(file, buffer, sizeof buffer);
  if (file >= 0) close(file);
  return bytes;
}

// ---- A handler that does file I/O ----

static volatile sig_atomic_t handled, failed;

static void on_signal(int signal) {
  (void)signal;
  const long bytes = bytes_of("/proc/self/stat");
  void* memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes <= 0 || memory == MAP_FAILED)
    ++failed;
  else
    munmap(memory, 4096);
  ++handled;
}

int handle_signals(int every_us) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  const struct itimerval often = {{0, every_us}, {0, every_us}};
  return sigaction(SIGVTALRM, &action, NULL) | setitimer(ITIMER_VIRTUAL, &often, NULL) |
         sigaction(SIGALRM, &action, NULL) | setitimer(ITIMER_REAL, &often, NULL);
}

int stop_signals(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_VIRTUAL, &never, NULL);
  setitimer(ITIMER_REAL, &never, NULL);
  return handled;
}

int failed_in_handlers(void) { return failed; }

// Sets every real-time signal to be ignored; returns how many had a handler before.
int set_all_signals(void) {
  int used = 0;
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
    struct sigaction before, ignored = {.sa_handler = SIG_IGN};
    sigaction(signal, &ignored, &before);
    used +=
        (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN;
  }
  return used;
}

// ---- Cancellation ----

struct work {
  int file;
  volatile int begun;
};

static void* read_for_ever(void* argument) {
  struct work* work = argument;
  char byte;
  work->begun = 1;
  for (;;)
    if (read(work->file, &byte, 1) < 0) return NULL;
}

static void* open_for_ever(void* argument) {
  struct work* work = argument;
  work->begun = 1;
  for (;;) bytes_of("/dev/null");
  return NULL;
}

// Returns how many threads did not end by cancellation.
int cancel_threads(int count) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    int ends[2];
    pthread_t thread;
    void* result = NULL;
    if (pipe(ends) != 0) return -1;
    struct work work = {ends[0], 0};
    if (pthread_create(&thread, NULL, i % 2 ? open_for_ever : read_for_ever, &work) != 0) return -2;
    while (!work.begun) usleep(10);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    wrong += result != PTHREAD_CANCELED;
    close(ends[0]);
    close(ends[1]);
  }
  return wrong;
}

// ---- A stack pointer that points elsewhere ----

enum { BORROWED_BYTES = 64 * 1024, FILLED = 0x5a };

// Uses CPU time with the stack pointer in the middle of a heap buffer, as oneDNN's matrix kernels do; returns
// how many bytes of the buffer have changed.
int borrow_stack(int ms) {
  unsigned char* buffer = malloc(BORROWED_BYTES);
  struct timespec now, begin;
  int changed = 0;
  memset(buffer, FILLED, BORROWED_BYTES);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    unsigned long loops = 1000000;
    __asm__ volatile(
        "mov %%rsp, %%r12\n\t"
        "mov %1, %%rsp\n"
        "0: dec %0\n\t"
        "jnz 0b\n\t"
        "mov %%r12, %%rsp"
        : "+r"(loops)
        : "r"(buffer + BORROWED_BYTES / 2)
        : "r12", "cc", "memory");
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < ms * 1000000L);
  for (int i = 0; i < BORROWED_BYTES; ++i) changed += buffer[i] != FILLED;
  free(buffer);
  return changed;
}

static void* borrow_and_return(void* changed) {
  *(int*)changed += borrow_stack(4);
  return NULL;
}

static void* borrow_and_exit(void* changed) {
  *(int*)changed += borrow_stack(4);
  pthread_exit(NULL);
}

int borrow_in_threads(int count) {
  int changed = 0;
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, i % 2 ? borrow_and_return : borrow_and_exit, &changed) != 0) return -1;
    pthread_join(thread, NULL);
  }
  return changed;
}

// Whether sigaltstack() works as without tracer: reports no stack, then the one that is set, then none.
int alternate_stack_is_its_own(void) {
  static char memory[64 * 1024];
  stack_t mine = {.ss_sp = memory, .ss_size = sizeof memory}, none = {.ss_flags = SS_DISABLE}, seen;
  int right = sigaltstack(&mine, &seen) == 0 && seen.ss_flags == SS_DISABLE && seen.ss_sp == NULL;
  right &= sigaltstack(&none, &seen) == 0 && seen.ss_flags == 0 && seen.ss_sp == memory;
  return right & (sigaltstack(NULL, &seen) == 0 && seen.ss_flags == SS_DISABLE);
}

// ---- A handler on a stack that is just large enough for it ----

enum { kStack = 8192, kBelow = 8192 };
static char* own_stack;

static void on_own_stack(int signal) {
  char scratch[1500];
  struct timespec now, begin;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    memset(scratch, signal, sizeof scratch);
    handled += scratch[handled % sizeof scratch] != 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 3000000);
}

// Starts a timer whose handler runs on the small stack, with an empty signal mask.
int handle_on_own_stack(void) {
  char* memory = mmap(NULL, kBelow + kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return -1;
  memset(memory, 0x5a, kBelow);
  own_stack = memory + kBelow;
  const stack_t stack = {.ss_sp = own_stack, .ss_size = kStack};
  const struct sigaction action = {.sa_handler = on_own_stack, .sa_flags = SA_ONSTACK | SA_RESTART};
  const struct itimerval every = {{0, 10000}, {0, 10000}};
  return sigaltstack(&stack, NULL) | sigaction(SIGALRM, &action, NULL) | setitimer(ITIMER_REAL, &every, NULL);
}

// Returns the number of bytes written below the small stack plus that of the signals in the handler's mask.
int damaged_below_own_stack(void) {
  struct sigaction action;
  int damaged = 0;
  for (const char* at = own_stack - kBelow; at < own_stack; ++at) damaged += *at != 0x5a;
  sigaction(SIGALRM, NULL, &action);
  for (int signal = 1; signal < NSIG; ++signal) damaged += sigismember(&action.sa_mask, signal) == 1;
  return damaged;
}

void end_own_stack(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  const stack_t none = {.ss_flags = SS_DISABLE};
  setitimer(ITIMER_REAL, &never, NULL);
  sigaltstack(&none, NULL);
}

void cancel(unsigned long thread) { pthread_cancel(thread); }

int wait_forever(void) {
  for (;;) pause();
  return 0;
}

// ---- A frame evaluator ----

typedef void* (*evaluator)(void*, void*, int);
static evaluator below;
static long frames;

static void* find(const char* name) { return dlsym(RTLD_DEFAULT, name); }

static void* count_frame(void* state, void* frame, int throwing) {
  ++frames;
  return below(state, frame, throwing);
}

static void set(evaluator function) {
  void* (*interpreter)(void) = (void* (*)(void))find("PyInterpreterState_Get");
  void (*put)(void*, evaluator) = (void (*)(void*, evaluator))find("_PyInterpreterState_SetEvalFrameFunc");
  put(interpreter(), function);
}

void put_evaluator(void) {
  void* (*interpreter)(void) = (void* (*)(void))find("PyInterpreterState_Get");
  evaluator (*get)(void*) = (evaluator(*)(void*))find("_PyInterpreterState_GetEvalFrameFunc");
  const evaluator now = get(interpreter());
  if (now != count_frame) below = now;
  frames = 0;
  set(count_frame);
}

long take_evaluator_away(void) {
  set(below);
  return frames;
}

void put_default_evaluator(void) { set((evaluator)find("_PyEval_EvalFrameDefault")); }

// ---- RUNPATH ----

int ask_plugin(int number) {
  void* plugin = dlopen("libplugin.so", RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) return -1;
  int (*answer)(int) = (int (*)(int))dlsym(plugin, "answer");
  const int result = answer(number);
  dlclose(plugin);
  return result;
}
