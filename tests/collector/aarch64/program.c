// A program for aarch64 that records its own stack at signals: registers and stack as a snapshot has them, with the
// names of the functions that it is in. It needs no library, so that it is small, and signs return addresses.
//
//   name FUNCTION …         innermost first
//   registers 33 × hex      DWARF's numbers 0 to 32
//   stack address hex       bytes upwards from that address
#include <stddef.h>
#include <stdint.h>

// As the kernel defines them.
struct context {
  uint8_t information[128];  // siginfo
  uint8_t head[176];         // of the ucontext, up to its registers
  uint64_t fault;
  uint64_t registers[31], sp, pc;
};
struct action {
  void (*handler)(int, void*, void*);
  uint64_t flags;
  void (*restorer)(void);
  uint64_t mask;
};
enum { kWrite = 64, kExit = 93, kSetAction = 134 };
enum { kIllegal = 4, kTrap = 5 };
enum { kInformation = 4, kRestorer = 0x04000000 };

static long call(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}

static char text[1 << 16];
static size_t used;
static uint64_t stack_end;

static void put(const char* string) {
  while (*string != 0) text[used++] = *string++;
}
static void put_digits(uint64_t value, int digits) {
  while (digits-- > 0) text[used++] = "0123456789abcdef"[value >> (4 * digits) & 15];
}

__attribute__((noinline)) static void record(const char* names, const uint64_t* registers) {
  put("name ");
  put(names);
  put("\nregisters");
  for (int i = 0; i < 33; ++i) put(" "), put_digits(registers[i], 16);
  put("\nstack ");
  const uint64_t begin = registers[31];
  put_digits(begin, 16);
  put(" ");
  for (uint64_t at = begin; at < stack_end; ++at) put_digits(*(const volatile uint8_t*)at, 2);
  put("\n");
}

// What no entry covers: as in the kernel's own, the instruction before it is there for those who look up the
// address of a call. And a function without a frame, whose return address is in x30.
__asm__(R"(
  .text
  .type trampoline, @function
trampoline:
  nop
return_from_handler:
  mov x8, #139
  svc #0
  .size trampoline, . - trampoline
  .type leaf, @function
  .globl leaf
leaf:
  .cfi_startproc
  brk #0
  ret
  .cfi_endproc
  .size leaf, . - leaf
)");
void leaf(void);
void return_from_handler(void);

// What signals find.
static const char* in_leaf;

__attribute__((noinline)) void on_trap(int signal, void* information, void* given) {
  struct context* const context = information;
  (void)signal, (void)given;
  record(in_leaf, context->registers);
  context->pc += 4;
}

// Its frame and the restorer's stand before those of the function that was interrupted.
__attribute__((noinline)) void on_illegal(int signal, void* information, void* given) {
  struct context* const context = information;
  (void)signal, (void)given;
  in_leaf = "leaf on_illegal trampoline leaf_with_a_frame middle outer start";
  leaf();
  context->pc += 4;
}

// A signed return address, at once in x30 and on the stack; callers by their frame pointers.
__attribute__((noinline)) void leaf_with_a_frame(volatile int* value) {
  __asm__ volatile("udf #0" ::: "x30", "memory");
  *value += 1;
}

__attribute__((noinline)) void middle(int size) {
  volatile int here[size];  // the CFA is found by the frame pointer
  here[0] = 0;
  in_leaf = "leaf middle outer start";
  leaf();
  leaf_with_a_frame(&here[0]);
}

__attribute__((noinline)) int outer(int size) {
  middle(size);
  return size + (int)used;
}

static void handle(int signal, void (*handler)(int, void*, void*)) {
  const struct action action = {handler, kInformation | kRestorer, return_from_handler, 0};
  call(kSetAction, signal, (long)&action, 0, 8);
}

__attribute__((noreturn, used)) void start(uint64_t end) {
  stack_end = end;
  handle(kTrap, on_trap);
  handle(kIllegal, on_illegal);
  const volatile int size = 3;
  outer(size);
  call(kWrite, 1, (long)text, (long)used, 0);
  call(kExit, 0, 0, 0, 0);
  __builtin_unreachable();
}

__asm__(R"(
  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, sp
  bl start
  .cfi_endproc
  .size _start, . - _start
)");
