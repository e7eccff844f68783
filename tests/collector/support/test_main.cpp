#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

// Tests set all paths themselves, so variables of the environment must not interfere.
int main(int argc, char** argv) {
  for (const char* name : {"LOTUS_DIR", "LOTUS_LOG", "LOTUS_OUTPUT", "LD_PRELOAD"}) unsetenv(name);
  return doctest::Context(argc, argv).run();
}
