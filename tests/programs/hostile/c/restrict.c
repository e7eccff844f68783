// Runs a command as in a strict container: with EPERM for system calls that inspect other processes, count
// hardware events or load programs into the kernel.
//   restrict COMMAND…
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int refused[] = {SYS_ptrace,       SYS_process_vm_readv, SYS_process_vm_writev, SYS_perf_event_open,
                              SYS_bpf,          SYS_userfaultfd,      SYS_keyctl,            SYS_kcmp,
                              SYS_pidfd_getfd,  SYS_mount,            SYS_unshare};
enum { count = sizeof refused / sizeof *refused };

int main(int words, char** command) {
  struct sock_filter code[2 * count + 2];
  int at = 0;
  code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < count; ++i) {
    code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {(unsigned short)at, code};
  if (words < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("restrict");
    return 77;
  }
  execvp(command[1], command + 1);
  perror(command[1]);
  return 127;
}
