#include <doctest/doctest.h>

#include <lotus/segment_places.hpp>
#include <string>
#include <vector>

using namespace lotus;

namespace {

std::vector<std::string> places_of(const PlaceSettings& settings) {
  std::vector<std::string> found;
  char path[kMaxPlaceBytes + 1];
  for (int place = 0; place < kSegmentPlaces; ++place)
    if (segment_place(place, settings, path)) found.emplace_back(path);
  return found;
}

using Places = std::vector<std::string>;

}  // namespace

TEST_CASE("segments lie in shared memory, else where the environment says") {
  PlaceSettings settings;
  settings.user = 1000;
  CHECK(places_of(settings) == Places{"/dev/shm/lotus-1000", "/tmp/lotus-1000"});
  settings.runtime = "/run/user/1000";
  settings.temporary = "/scratch";
  settings.home = "/home/ada";
  CHECK(places_of(settings) ==
        Places{"/dev/shm/lotus-1000", "/run/user/1000/lotus", "/scratch/lotus-1000", "/home/ada/.lotus"});
  settings.pid_namespace = kInitialPidNamespace;
  CHECK(places_of(settings).front() == "/dev/shm/lotus-1000");
  settings.pid_namespace = 4026532201;
  CHECK(places_of(settings) == Places{"/dev/shm/lotus-1000-4026532201", "/run/user/1000/lotus-4026532201",
                                      "/scratch/lotus-1000-4026532201", "/home/ada/.lotus-4026532201"});
}

TEST_CASE("relative directories are ignored, whoever has which working directory") {
  PlaceSettings settings;
  settings.runtime = "run";
  settings.temporary = "./scratch";
  settings.home = "home";
  settings.working_directory = "/work";
  CHECK(places_of(settings) == Places{"/dev/shm/lotus-0", "/tmp/lotus-0"});
}

TEST_CASE("a directory that is asked for is the only place") {
  PlaceSettings settings;
  settings.runtime = "/run/user/0";
  settings.directory = "/mine";
  CHECK(places_of(settings) == Places{"/mine"});
  settings.directory = "mine";
  CHECK(places_of(settings).empty());
  settings.working_directory = "/work";
  CHECK(places_of(settings) == Places{"/work/mine"});
}

TEST_CASE("a directory whose name is too long is no place, never a part of it") {
  const std::string longest = "/" + std::string(kMaxPlaceBytes - 1, 'x');
  PlaceSettings settings;
  settings.directory = longest;
  CHECK(places_of(settings) == Places{longest});
  const std::string longer = longest + "x";
  settings.directory = longer;
  CHECK(places_of(settings).empty());
  settings.directory = {};
  settings.temporary = longest;
  CHECK(places_of(settings) == Places{"/dev/shm/lotus-0"});
}
