// The cache of the child that was looked up last at each node of the tree of stacks.
#include "stacks/recent_children.hpp"

#include <doctest/doctest.h>

using namespace lotus::collector;

TEST_CASE("the child that was asked for last is known, another one is not") {
  RecentChildren recent;
  CHECK(recent.find(0, 7) == 0);
  recent.add(7);
  recent.add(8);
  recent.asked_for(0, 1);
  CHECK(recent.find(0, 7) == 1);
  CHECK(recent.find(0, 8) == 0);
  CHECK(recent.find(1, 8) == 0);
  recent.asked_for(0, 2);
  CHECK(recent.find(0, 7) == 0);
  CHECK(recent.find(0, 8) == 2);
}

TEST_CASE("behind nodes of an earlier collector") {
  RecentChildren recent;
  recent.add(7);
  recent.asked_for(0, 1);
  recent.begin_behind(1000);
  CHECK(recent.find(0, 7) == 0);
  recent.asked_for(999, 1000);
  CHECK(recent.find(999, 0) == 0);
  recent.add(9);
  recent.asked_for(1000, 1001);
  CHECK(recent.find(1000, 9) == 1001);
  recent.asked_for(5, 1001);
  CHECK(recent.find(5, 9) == 0);
}
