// Runs a fuzz target without libFuzzer: its seeds and its corpus unchanged, then mutated at random. The
// mutations are the same in each run.
//
//   fuzz-TARGET [SECONDS]        default: 3
//   fuzz-TARGET --seeds DIR      writes the seeds there
//   fuzz-TARGET FILE...          runs these inputs
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "fuzz.hpp"

using namespace lotus::fuzz;

// Defined by targets that know the format of their inputs.
extern "C" [[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                             std::size_t most, unsigned seed);

namespace {

using Clock = std::chrono::steady_clock;

std::mt19937_64 chance;  // NOLINT: seeded with each input's number, so that runs are reproducible

std::uint64_t awkward() {
  switch (chance() % 6) {
    case 0:
      return chance() % 256;
    case 1:
      return ~std::uint64_t{0} - chance() % 64;
    case 2:
      return std::uint64_t{1} << (chance() % 64);
    case 3:
      return 64 * (chance() % 4096);
    default:
      return chance();
  }
}

void change(Bytes& bytes) {
  if (bytes.empty()) return;
  const std::size_t at = chance() % bytes.size();
  const std::uint64_t value = awkward();
  switch (chance() % 5) {
    case 0:
      bytes[at] = static_cast<std::uint8_t>(value);
      return;
    case 1:
      std::memcpy(&bytes[at], &value,
                  std::min<std::size_t>(bytes.size() - at, std::size_t{1} << (chance() % 4)));
      return;
    case 2: {  // a copy of another part
      const std::size_t from = chance() % bytes.size();
      std::memmove(&bytes[at], &bytes[from],
                   std::min<std::size_t>(chance() % 200, bytes.size() - std::max(at, from)));
      return;
    }
    case 3:
      bytes.resize(bytes.size() - chance() % std::min<std::size_t>(bytes.size(), 100));
      return;
    default:
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1u << (chance() % 8)));
  }
}

void change_by_form(Bytes& bytes) {
  const std::size_t size = bytes.size();
  bytes.resize(2 * size + 4096);
  bytes.resize(LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(), static_cast<unsigned>(chance())));
}

Bytes read_file(const std::string& path) {
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

// The inputs in the repository that earlier runs found: they once caused crashes, or reach much code.
std::vector<Bytes> corpus() {
  std::vector<std::string> paths;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(LOTUS_FUZZ_CORPUS, none))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> all;
  for (const std::string& path : paths) all.push_back(read_file(path));
  return all;
}

std::uint64_t run_changed(double seconds) {
  std::vector<Bytes> all = seeds();
  for (Bytes& found : corpus()) all.push_back(std::move(found));
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t runs = 0;
  for (const Bytes& seed : all) run(seed);
  for (; Clock::now() < end; ++runs) {
    chance.seed(runs);
    Bytes bytes = all[runs % all.size()];
    if (LLVMFuzzerCustomMutator != nullptr)
      change_by_form(bytes);
    else
      for (std::uint64_t n = 1 + chance() % 12; n > 0; --n) change(bytes);
    run(bytes);
  }
  return runs;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  Bytes bytes(data, data + size);
  for (std::uint64_t n = 1 + chance() % 12; n > 0; --n) change(bytes);
  bytes.resize(std::min(bytes.size(), most));
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "3";
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
