// A program that starts and finalizes Python several times.
//   embedding DIRECTORY TIMES     DIRECTORY: with work.py
#include <stdio.h>
#include <stdlib.h>

void Py_InitializeEx(int);
int Py_FinalizeEx(void);
int PyRun_SimpleString(const char*);

int main(int count, char** words) {
  if (count != 3) return 2;
  char code[4096];
  for (int life = 1; life <= atoi(words[2]); ++life) {
    snprintf(code, sizeof code,
             "import sys\n"
             "sys.path.insert(0, '%s')\n"
             "import work\n"
             "work.epoch(workers=%d, name='life %d')\n"
             "work.settle()\n"  // a daemon thread that outlives this Python may crash the next one
             "work.end()\n",
             words[1], life % 2 * 2, life);
    Py_InitializeEx(life % 2);
    if (PyRun_SimpleString(code) != 0) return 3;
    if (Py_FinalizeEx() != 0) return 4;
    printf("life %d ended\n", life);
    fflush(stdout);
  }
  return 6;
}
