#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

// The tests say themselves where everything is.
int main(int argc, char** argv) {
  for (const char* name : {"LOTUS_DIR", "LOTUS_LOG", "LOTUS_OUTPUT", "LD_PRELOAD"}) unsetenv(name);
  return doctest::Context(argc, argv).run();
}
