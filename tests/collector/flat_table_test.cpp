// A hash table of numbers in one block of memory: added entries are found also after it has grown.
#include "stacks/flat_table.hpp"

#include <doctest/doctest.h>

using namespace lotus::collector;

namespace {

struct Entry {
  std::uint64_t key = 0;
  std::uint64_t value = 0;
};

}  // namespace

TEST_CASE("what was added is found, and nothing else") {
  FlatTable<Entry> table;
  CHECK(table.find(1) == nullptr);
  for (std::uint64_t key = 1; key <= 10'000; ++key) table.add({key << 32, key});
  CHECK(table.size() == 10'000);
  for (std::uint64_t key = 1; key <= 10'000; ++key) {
    const Entry* entry = table.find(key << 32);
    REQUIRE(entry != nullptr);
    CHECK(entry->value == key);
    CHECK(table.find(key) == nullptr);
  }
}

TEST_CASE("no key is 0") {
  FlatTable<Entry> table;
  CHECK(table.find(0) == nullptr);
  table.add({1, 1});
  CHECK(table.find(0) == nullptr);
}

TEST_CASE("a table that was cleared begins anew") {
  FlatTable<Entry> table;
  for (std::uint64_t key = 1; key <= 1000; ++key) table.add({key, 1});
  table.clear();
  CHECK(table.size() == 0);
  CHECK(table.find(1) == nullptr);
  table.add({1, 2});
  CHECK(table.find(1)->value == 2);
}
