// Runs a fuzz target without libFuzzer: its seeds as they are, then changed at random, always in the same
// way.
//
//   fuzz-TARGET [SECONDS]        default: 5
//   fuzz-TARGET --seeds DIR      writes the seeds there
//   fuzz-TARGET FILE...          runs these inputs
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>

#include "fuzz.hpp"

using namespace lotus::fuzz;

namespace {

using Random = std::mt19937_64;
using Clock = std::chrono::steady_clock;

std::uint64_t awkward(Random& random) {
  switch (random() % 6) {
    case 0:
      return random() % 256;
    case 1:
      return ~std::uint64_t{0} - random() % 64;
    case 2:
      return std::uint64_t{1} << (random() % 64);
    case 3:
      return 64 * (random() % 4096);
    default:
      return random();
  }
}

void change(Bytes& bytes, Random& random) {
  if (bytes.empty()) return;
  const std::size_t at = random() % bytes.size();
  const std::uint64_t value = awkward(random);
  switch (random() % 5) {
    case 0:
      bytes[at] = static_cast<std::uint8_t>(value);
      return;
    case 1:
      std::memcpy(&bytes[at], &value,
                  std::min<std::size_t>(bytes.size() - at, std::size_t{1} << (random() % 4)));
      return;
    case 2: {  // another part of it
      const std::size_t from = random() % bytes.size();
      std::memmove(&bytes[at], &bytes[from],
                   std::min<std::size_t>(random() % 200, bytes.size() - std::max(at, from)));
      return;
    }
    case 3:
      bytes.resize(bytes.size() - random() % std::min<std::size_t>(bytes.size(), 100));
      return;
    default:
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1u << (random() % 8)));
  }
}

Bytes read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void run(const Bytes& bytes) { LLVMFuzzerTestOneInput(bytes.data(), bytes.size()); }

void write_seeds(const std::string& directory) {
  int number = 0;
  for (const Bytes& seed : seeds())
    std::ofstream(directory + "/seed-" + std::to_string(++number), std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
}

std::uint64_t run_changed(double seconds) {
  const std::vector<Bytes> all = seeds();
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t runs = 0;
  for (const Bytes& seed : all) run(seed);
  for (; Clock::now() < end; ++runs) {
    Random random(runs);
    Bytes bytes = all[runs % all.size()];
    for (std::uint64_t n = 1 + random() % 12; n > 0; --n) change(bytes, random);
    run(bytes);
  }
  return runs;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "5";
  if (first == "--seeds" && argc == 3) {
    write_seeds(argv[2]);
    return 0;
  }
  if (first.find_first_not_of("0123456789.") != std::string::npos) {
    for (int i = 1; i < argc; ++i) run(read_file(argv[i]));
    return 0;
  }
  std::printf("%llu changed inputs\n", static_cast<unsigned long long>(run_changed(std::stod(first))));
  return 0;
}
