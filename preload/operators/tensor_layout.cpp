#include "operators/tensor_layout.hpp"

#include <cstring>

#include "system/mappings.hpp"

namespace lotus {
namespace {

constexpr std::int32_t kFunctionBytes = 512;  // of a RecordFunction that are looked at, at most
constexpr std::int32_t kTensorBytes = 96;     // of a TensorImpl
constexpr std::int32_t kStorageBytes = 128;   // of a StorageImpl
constexpr std::uint64_t kMostListed = 1 << 16;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;
constexpr std::uint64_t kLeastBytes = 64;  // smaller numbers may be anything

bool read_safely(std::uint64_t address, void* to, std::size_t bytes) {
  return read_own_memory(address, to, bytes) == bytes;
}

bool may_be_object(std::uint64_t address) {
  return address >= 4096 && address % 8 == 0 && address >> 47 == 0;
}

// The number of IValues between two addresses; 0: these are not those of a vector.
std::uint64_t values_between(std::uint64_t begin, std::uint64_t end, std::uint64_t most) {
  if (!may_be_object(begin) || end <= begin || (end - begin) % sizeof(BoxedValue) != 0) return 0;
  const std::uint64_t count = (end - begin) / sizeof(BoxedValue);
  return count <= most ? count : 0;
}

std::uint64_t word_at(std::uint64_t object, std::int32_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(object) + offset, sizeof word);
  return word;
}

BoxedValues vector_at(std::uint64_t object, std::int32_t offset, std::uint64_t most) {
  const std::uint64_t begin = word_at(object, offset);
  return {reinterpret_cast<const BoxedValue*>(begin),
          values_between(begin, word_at(object, offset + 8), most)};
}

// What a tensor's storage is, read safely: for guesses.
bool read_storage(const TensorLayout& layout, const BoxedValue& tensor, StorageBlock& block) {
  std::uint64_t storage = 0;
  return tensor.tag == layout.tensor_tag && may_be_object(tensor.payload) &&
         read_safely(tensor.payload + static_cast<std::uint64_t>(layout.storage), &storage, sizeof storage) &&
         may_be_object(storage) &&
         read_safely(storage + static_cast<std::uint64_t>(layout.data), &block.address,
                     sizeof block.address) &&
         read_safely(storage + static_cast<std::uint64_t>(layout.bytes), &block.bytes, sizeof block.bytes);
}

}  // namespace

BoxedValues TensorLayout::outputs_of(const void* function) const {
  return vector_at(reinterpret_cast<std::uint64_t>(function), outputs, TensorLayout::kMostValues);
}

BoxedValues TensorLayout::inputs_of(const void* function) const {
  const auto object = reinterpret_cast<std::uint64_t>(function);
  if (!inputs_counted) return vector_at(object, inputs, TensorLayout::kMostValues);
  const std::uint64_t count = word_at(object, inputs + 8);
  return {reinterpret_cast<const BoxedValue*>(word_at(object, inputs)),
          count <= TensorLayout::kMostValues ? count : 0};
}

BoxedValues TensorLayout::list_of(const BoxedValue& value) const {
  return value.payload == 0 ? BoxedValues{} : vector_at(value.payload, list, kMostListed);
}

StorageBlock TensorLayout::storage_of(const BoxedValue& tensor) const {
  if (tensor.payload == 0) return {};
  const std::uint64_t object = word_at(tensor.payload, storage);
  if (object == 0) return {};  // an undefined tensor, a sparse one
  const StorageBlock block{word_at(object, data), word_at(object, bytes)};
  // Tensors without memory of their own (torch.compile's) have no address, or a size that is a formula.
  return block.address == 0 || block.bytes > kMostBytes ? StorageBlock{} : block;
}

void LayoutSearch::note_allocation(std::uint64_t address, std::uint64_t bytes) {
  if (bytes < kLeastBytes) return;
  made_ = {address, bytes};
  note_storage(made_);
}

void LayoutSearch::note_storage(const StorageBlock& block) {
  if (block.bytes > 0) recent_[slot_of(block)] = block;
}

bool LayoutSearch::is_recent(const StorageBlock& block, std::uint64_t least) const {
  const StorageBlock& known = recent_[slot_of(block)];
  return known.address == block.address && known.bytes == block.bytes && block.bytes >= least;
}

void LayoutSearch::vote(const Candidate& candidate) {
  const auto is_same = [&](const Candidate& other) {
    return other.vector == candidate.vector && other.storage == candidate.storage &&
           other.data == candidate.data && other.bytes == candidate.bytes && other.tag == candidate.tag;
  };
  for (std::uint32_t i = 0; i < candidate_count_; ++i)
    if (is_same(candidates_[i])) {
      ++candidates_[i].votes;
      return;
    }
  if (candidate_count_ == kMostCandidates) return;
  candidates_[candidate_count_] = candidate;
  candidates_[candidate_count_++].votes = 1;
}

// `candidate`: all but `data` and `bytes`.
void LayoutSearch::look_in_storage(Candidate candidate, std::uint64_t storage) {
  std::uint64_t words[kStorageBytes / 8];
  if (!may_be_object(storage) || !read_safely(storage, words, sizeof words)) return;
  candidate.data = candidate.bytes = TensorLayout::kUnknown;
  // The address stands first as such, and again as what is to be released.
  for (std::int32_t i = 0; i < kStorageBytes / 8; ++i) {
    if (words[i] == made_.address && candidate.data < 0) candidate.data = 8 * i;
    if (words[i] == made_.bytes && candidate.bytes < 0) candidate.bytes = 8 * i;
  }
  if (candidate.data >= 0 && candidate.bytes >= 0) vote(candidate);
}

void LayoutSearch::look_in_tensor(std::int32_t vector, const BoxedValue& value) {
  std::uint64_t words[kTensorBytes / 8];
  if (!may_be_object(value.payload) || !read_safely(value.payload, words, sizeof words)) return;
  for (std::int32_t i = 1; i < kTensorBytes / 8; ++i)
    look_in_storage({vector, 8 * i, 0, 0, value.tag, 0}, words[i]);
}

void LayoutSearch::look_at_end(TensorLayout& layout, const void* function) {
  const StorageBlock made = made_;
  if (layout.knows_storages() || made.bytes == 0) return;
  ++looks_;
  std::uint64_t words[kFunctionBytes / 8];
  if (!read_safely(reinterpret_cast<std::uint64_t>(function), words, sizeof words)) return;
  for (std::int32_t i = 0; i + 2 < kFunctionBytes / 8; ++i) {
    const std::uint64_t count = values_between(words[i], words[i + 1], TensorLayout::kMostValues);
    if (count == 0 || words[i + 2] < words[i + 1]) continue;
    BoxedValue values[4];
    const std::uint64_t looked = count < 4 ? count : 4;
    if (!read_safely(words[i], values, looked * sizeof values[0])) continue;
    for (std::uint64_t k = 0; k < looked; ++k) look_in_tensor(8 * i, values[k]);
  }
  const Candidate* best = nullptr;
  for (std::uint32_t i = 0; i < candidate_count_; ++i)
    if (best == nullptr || candidates_[i].votes > best->votes) best = &candidates_[i];
  if (best == nullptr || best->votes < kEnough) return;
  layout.tensor_tag = best->tag;
  layout.storage = best->storage;
  layout.data = best->data;
  layout.bytes = best->bytes;
  layout.outputs = best->vector;
}

// The pair of words at `slot` leads to arguments of which one has a storage that was made not long ago.
void LayoutSearch::look_for_inputs(TensorLayout& layout, const std::uint64_t* words, std::int32_t slot) {
  const std::uint64_t begin = words[slot], second = words[slot + 1];
  const bool counted = second > 0 && second <= TensorLayout::kMostValues;
  const std::uint64_t count = counted ? second : values_between(begin, second, TensorLayout::kMostValues);
  if (count == 0 || !may_be_object(begin)) return;
  BoxedValue values[8];
  const std::uint64_t looked = count < 8 ? count : 8;
  if (!read_safely(begin, values, looked * sizeof values[0])) return;
  for (std::uint64_t i = 0; i < looked; ++i) {
    StorageBlock block;
    if (!read_storage(layout, values[i], block) || !is_recent(block, kLeastBytes)) continue;
    if (input_slot_ != 8 * slot) input_votes_ = 0;
    input_slot_ = 8 * slot;
    layout.inputs_counted = counted;
    if (++input_votes_ == kEnough) layout.inputs = input_slot_;
    return;
  }
}

void LayoutSearch::look_at_start(TensorLayout& layout, const void* function) {
  made_ = {};
  if (!layout.knows_storages() || layout.inputs != TensorLayout::kUnknown) return;
  ++looks_;
  std::uint64_t words[kFunctionBytes / 8];
  if (!read_safely(reinterpret_cast<std::uint64_t>(function), words, sizeof words)) return;
  for (std::int32_t i = 0; i + 1 < kFunctionBytes / 8 && layout.inputs == TensorLayout::kUnknown; ++i)
    if (8 * i != layout.outputs) look_for_inputs(layout, words, i);
}

void LayoutSearch::look_at_value(TensorLayout& layout, const BoxedValue& value, std::uint64_t which) {
  constexpr std::int32_t kListBytes = 64;
  constexpr std::uint16_t kFirst = 8, kThen = 256;  // the first ones are looked at, then one of so many
  if (layout.list != TensorLayout::kUnknown || !may_be_object(value.payload)) return;
  std::uint16_t& looks = value_looks_[which * 0x9e3779b97f4a7c15u >> 56 & (kValues - 1)];
  if (++looks > kFirst && looks % kThen != 0) return;
  std::uint64_t words[kListBytes / 8];
  if (!read_safely(value.payload, words, sizeof words)) return;
  for (std::int32_t i = 1; i + 2 < kListBytes / 8; ++i) {
    if (values_between(words[i], words[i + 1], kMostListed) == 0 || words[i + 2] < words[i + 1]) continue;
    BoxedValue last;  // of what is collected in a loop the one that was made last
    StorageBlock block;
    if (!read_safely(words[i + 1] - sizeof last, &last, sizeof last) || !read_storage(layout, last, block))
      continue;
    // A tensor whose storage is known by address and size, however small.
    if (!is_recent(block, 1)) continue;
    layout.list_tag = value.tag;
    layout.list = 8 * i;
    return;
  }
}

}  // namespace lotus
