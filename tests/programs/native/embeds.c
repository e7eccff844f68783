// A program that embeds Python: it loads libpython while it runs, as frozen programs do, and runs a script.
//   embeds LIBRARY global|local SCRIPT [ARGUMENT…]
#include <dlfcn.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

int main(int count, char** arguments) {
  if (count < 4) return 2;
  setlocale(LC_ALL, "C");  // asked for by another than the interpreter
  const int scope = strcmp(arguments[2], "local") == 0 ? RTLD_LOCAL : RTLD_GLOBAL;
  void* library = dlopen(arguments[1], RTLD_NOW | scope);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  int (*bytes_main)(int, char**) = (int (*)(int, char**))dlsym(library, "Py_BytesMain");
  if (bytes_main == NULL) return 4;
  arguments[2] = arguments[0];
  return bytes_main(count - 2, arguments + 2);
}
