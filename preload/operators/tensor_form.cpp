#include "operators/tensor_form.hpp"

#include <cstring>
#include <lotus/events.hpp>
#include <string_view>

#include "record/recorder.hpp"
#include "system/mappings.hpp"

namespace lotus {
namespace {

constexpr std::int32_t kTensorWords = 32;  // of a TensorImpl that are looked at
constexpr std::int32_t kInline = 5;        // dimensions whose sizes and strides stand in the tensor itself
constexpr std::uint64_t kMostDimensions = 12;
constexpr std::uint64_t kLeastElements = 16;  // smaller numbers may be anything
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 46;
constexpr std::int32_t kTypePlaces = 8;  // in the two words after the number of elements

// Bytes of an element, by c10::ScalarType; 0: not of whole bytes, or not known.
constexpr std::uint8_t kElementBytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4,
                                          2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1,  1, 2, 4, 8};

std::uint64_t element_bytes(std::uint64_t type) {
  return type < sizeof kElementBytes ? kElementBytes[type] : 0;
}

std::uint64_t load(std::uint64_t object, std::int32_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(object) + offset, sizeof word);
  return word;
}

std::uint64_t type_at(std::uint64_t object, std::int32_t offset) {
  std::uint16_t type = 0;
  std::memcpy(&type, reinterpret_cast<const char*>(object) + offset, sizeof type);
  return type;
}

// Their product; 0: too large, or one is.
std::uint64_t elements_of(const std::uint64_t* sizes, std::uint64_t dimensions) {
  std::uint64_t elements = 1;
  for (std::uint64_t i = 0; i < dimensions; ++i)
    if (__builtin_mul_overflow(elements, sizes[i], &elements) || elements > kMostElements) return 0;
  return elements;
}

bool are_dense(const std::uint64_t* sizes, const std::uint64_t* strides, std::uint64_t dimensions) {
  std::uint64_t stride = 1;
  for (std::uint64_t i = dimensions; i-- > 0; stride *= sizes[i])
    if (strides[i] != stride) return false;
  return true;
}

// Whether the tensor lies in its storage. Another object than was thought would hardly.
bool fits(const std::uint64_t* sizes, const std::uint64_t* strides, std::uint64_t dimensions,
          std::uint64_t offset, std::uint64_t each, std::uint64_t bytes) {
  std::uint64_t last = offset;
  for (std::uint64_t i = 0; i < dimensions; ++i) {
    std::uint64_t way = 0;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &way) || __builtin_add_overflow(last, way, &last))
      return false;
  }
  return last < bytes / each;
}

// "64x3x224x224"
class SizesText {
 public:
  SizesText(const std::uint64_t* sizes, std::uint64_t dimensions) {
    for (std::uint64_t i = dimensions; i-- > 0;) {
      std::uint64_t left = sizes[i];
      do *--begin_ = static_cast<char>('0' + left % 10);
      while ((left /= 10) != 0);
      if (i != 0) *--begin_ = 'x';
    }
  }
  std::string_view text() const { return {begin_, static_cast<std::size_t>(text_ + sizeof text_ - begin_)}; }

 private:
  char text_[kMostDimensions * 16];  // a size has 15 digits at most
  char* begin_ = text_ + sizeof text_;
};

}  // namespace

// The words from `slot` on are the sizes and strides of a tensor that takes all of its storage.
bool TensorForms::looks_like(const std::uint64_t* words, std::int32_t slot, const StorageBlock& block) {
  const std::uint64_t dimensions = words[slot];
  if (dimensions < 2 || dimensions > kInline) return false;
  const std::uint64_t *sizes = words + slot + 1, *strides = sizes + kInline;
  const std::uint64_t elements = elements_of(sizes, dimensions);
  if (elements < kLeastElements || !are_dense(sizes, strides, dimensions)) return false;
  const std::int32_t count = slot + 2 * kInline + 2;
  if (words[count] != elements || words[count - 1] != 0 || block.bytes % elements != 0) return false;
  const std::uint64_t each = block.bytes / elements;
  if (each < 2 || each > 16) return false;  // too many types have a byte
  std::uint32_t types = 0;
  const auto after = reinterpret_cast<std::uint64_t>(words + count + 1);
  for (std::int32_t i = 0; i < kTypePlaces; ++i)
    if (element_bytes(type_at(after, 2 * i)) == each) types |= 1u << i;
  vote(8 * slot, 8 * count, types);
  return true;
}

void TensorForms::vote(std::int32_t dimensions, std::int32_t elements, std::uint32_t types) {
  if (votes_ == 0 || guess_.dimensions != dimensions || guess_.elements != elements) {
    guess_ = {dimensions, elements, 0};
    guessed_types_ = types;
    votes_ = 0;
  }
  guessed_types_ &= types;
  votes_ = guessed_types_ == 0 ? 0 : votes_ + 1;
  if (votes_ < kEnough || (guessed_types_ & (guessed_types_ - 1)) != 0) return;
  layout_ = guess_;
  layout_.type = elements + 8 + 2 * __builtin_ctz(guessed_types_);
}

void TensorForms::look(std::uint64_t tensor, const StorageBlock& block) {
  if (++looks_ > kMostLooks) return;
  std::uint64_t words[kTensorWords];
  if (read_own_memory(tensor, words, sizeof words) != sizeof words) return;
  for (std::int32_t i = 1; i + 2 * kInline + 4 < kTensorWords; ++i)
    if (looks_like(words, i, block)) return;
}

std::uint32_t TensorForms::id_of(std::uint64_t type, const std::uint64_t* sizes, std::uint64_t dimensions) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  std::uint64_t hash = (type + 1) * kOdd + dimensions;
  for (std::uint64_t i = 0; i < dimensions; ++i) {
    hash = (hash ^ sizes[i]) * kOdd;
    hash ^= hash >> 29;
  }
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    Known& known = known_[(hash + probe) & (kForms - 1)];
    const bool free = known.id == 0;
    if (!free && known.hash != hash) continue;
    if (!free && known.generation == process.generation) return known.id;
    const std::uint32_t id = free ? known_count_ + 1 : known.id;
    if (!define<Kind::tensor_form>(id, type, SizesText(sizes, dimensions).text())) return 0;
    if (free) ++known_count_;
    known = {hash, id, process.generation};
    return id;
  }
  return 0;
}

TensorForm TensorForms::form_of(std::uint64_t tensor, const StorageBlock& block) {
  if (!layout_.is_known()) {
    look(tensor, block);
    if (!layout_.is_known()) return {};
  }
  const std::uint64_t dimensions = load(tensor, layout_.dimensions);
  const std::uint64_t type = type_at(tensor, layout_.type);
  const std::uint64_t each = element_bytes(type);
  if (dimensions > kMostDimensions || each == 0) return {};
  std::uint64_t outside[2 * kMostDimensions];
  const auto* sizes =
      reinterpret_cast<const std::uint64_t*>(tensor + static_cast<std::uint64_t>(layout_.dimensions) + 8);
  const std::uint64_t* strides = sizes + kInline;
  if (dimensions > kInline) {
    const std::size_t bytes = 2 * dimensions * sizeof outside[0];
    if (read_own_memory(sizes[0], outside, bytes) != bytes) return {};
    sizes = outside;
    strides = outside + dimensions;
  }
  const std::uint64_t elements = elements_of(sizes, dimensions);
  const std::uint64_t offset = load(tensor, layout_.elements - 8);
  if (elements == 0 || elements != load(tensor, layout_.elements) ||
      !fits(sizes, strides, dimensions, offset, each, block.bytes))
    return {};
  return {id_of(type, sizes, dimensions), offset * each};
}

}  // namespace lotus
