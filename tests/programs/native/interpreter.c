// What the library sees of CPython until torch is imported: one audit hook, which is told of the import.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*Hook)(const char*, void*, void*);
typedef struct {
  void* context;
  void* (*allocate)(void*, size_t);
  void* (*allocate_zeroed)(void*, size_t, size_t);
  void* (*reallocate)(void*, void*, size_t);
  void (*release)(void*, void*);
} Allocator;

static Hook hook = NULL;
static Allocator allocator = {NULL, NULL, NULL, NULL, NULL};

int PySys_AddAuditHook(Hook added, void* data) {
  (void)data;
  hook = added;
  return 0;
}
void PyMem_GetAllocator(int domain, Allocator* told) {
  (void)domain;
  *told = allocator;
}
void PyMem_SetAllocator(int domain, Allocator* given) {
  (void)domain;
  allocator = *given;
}
void* PyTuple_GetItem(void* tuple, ptrdiff_t index) { return ((void**)tuple)[index]; }
const char* PyUnicode_AsUTF8AndSize(void* text, ptrdiff_t* bytes) {
  (void)bytes;
  return text;
}
void PyErr_Clear(void) {}
void* PyInterpreterState_Get(void) { return &hook; }
void* PyInterpreterState_Main(void) { return &hook; }

int main(void) {
  void* json[] = {"json"};
  void* torch[] = {"torch"};
  printf("hook: %d\n", hook != NULL);
  if (hook == NULL) return 1;
  hook("import", json, NULL);
  puts("imported json");
  fflush(stdout);
  hook("import", torch, NULL);
  puts("imported torch");
  return 0;
}
