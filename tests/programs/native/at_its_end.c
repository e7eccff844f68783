// A function that runs AT_ITS_END (assembly; default: a loop of the given number of rounds) after it has
// popped its caller's rbp. As at the end of GCC's functions, its unwind entry still says that rbp is on the
// stack, which is now below the stack pointer. The frame of with_a_frame cannot be found without that rbp.
#ifndef AT_ITS_END
#define AT_ITS_END "1: dec %rdi; jnz 1b"
#endif

__asm__(R"(
  .pushsection .text
  .type at_its_end, @function
at_its_end:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  xor %ebp, %ebp
  pop %rbp
  .cfi_def_cfa_offset 8
)" AT_ITS_END R"(
  ret
  .cfi_endproc
  .size at_its_end, . - at_its_end
  .globl with_a_frame
  .type with_a_frame, @function
with_a_frame:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  sub $64, %rsp
  call at_its_end
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size with_a_frame, . - with_a_frame
  .popsection
)");
