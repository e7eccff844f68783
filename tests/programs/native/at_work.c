// What a program does that the library looks at: files, threads, signals, child processes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void* in_thread(void* text) {
  printf("thread: %s\n", (const char*)text);
  return NULL;
}
static void on_signal(int number) { (void)number; }

int main(int count, char** words) {
  char buffer[64] = "";
  if (count > 1) {
    puts("executed");
    return 3;
  }
  FILE* file = fopen(words[0], "r");
  printf("read: %zu\n", fread(buffer, 1, 4, file));
  fclose(file);
  int descriptor = open(words[0], O_RDONLY);
  printf("pread: %zd\n", pread(descriptor, buffer, 4, 0));
  void* map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, descriptor, 0);
  printf("mapped: %d\n", ((char*)map)[1] == 'E');
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, "ran");
  pthread_join(thread, NULL);
  struct sigaction action = {.sa_handler = on_signal};
  printf("sigaction: %d\n", sigaction(SIGRTMAX, &action, NULL));
  raise(SIGRTMAX);
  fflush(stdout);
  if (fork() == 0) execl(words[0], words[0], "again", (char*)NULL);
  int status = 0;
  wait(&status);
  printf("child: %d\n", WEXITSTATUS(status));
  printf("python: %d\n", dlsym(RTLD_DEFAULT, "PySys_AddAuditHook") != NULL);
  fflush(stdout);
  _exit(5);
}
