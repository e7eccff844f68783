// Where PyTorch keeps the tensors of an operator, and the storages of tensors. Nothing is assumed by version:
// it is found out on the program's own operators, by allocations whose address and size are known.
//
// at::RecordFunction → inputs, outputs: arrays of c10::IValue → at::TensorImpl → c10::StorageImpl → address
// and size. An IValue that holds a list leads to a vector of IValues.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lotus {

// c10::IValue: a payload and its kind.
struct BoxedValue {
  std::uint64_t payload;
  std::uint32_t tag;
  std::uint32_t rest;
};
static_assert(sizeof(BoxedValue) == 16);

struct BoxedValues {
  const BoxedValue* begin = nullptr;
  std::uint64_t count = 0;
};

// The block of memory under a tensor. bytes 0: none that can be told.
struct StorageBlock {
  std::uint64_t address = 0, bytes = 0;
};

// Offsets in bytes; -1: not found yet.
struct TensorLayout {
  static constexpr std::int32_t kUnknown = -1;
  static constexpr std::uint64_t kMostValues = 64;  // arguments or results of an operator
  std::int32_t outputs = kUnknown;                  // in a RecordFunction: a vector
  std::int32_t inputs = kUnknown;                   // … a pointer and …
  bool inputs_counted = false;                      // … a count, else a vector
  std::int32_t storage = kUnknown;                  // in a TensorImpl
  std::int32_t data = kUnknown, bytes = kUnknown;   // in a StorageImpl
  std::uint32_t tensor_tag = 0;
  std::int32_t list = kUnknown;  // in what an IValue of a list points to: a vector
  std::uint32_t list_tag = 0;

  bool knows_storages() const { return outputs != kUnknown; }
  bool complete() const { return knows_storages() && inputs != kUnknown; }

  BoxedValues inputs_of(const void* function) const;
  BoxedValues outputs_of(const void* function) const;
  bool is_tensor(const BoxedValue& value) const { return value.tag == tensor_tag; }
  bool is_list(const BoxedValue& value) const { return list != kUnknown && value.tag == list_tag; }
  BoxedValues list_of(const BoxedValue& value) const;
  StorageBlock storage_of(const BoxedValue& tensor) const;
};

// Learns the layout. Reads what may not be there, and so by the kernel: a look costs up to a millisecond. Of
// the thread that trains.
class LayoutSearch {
 public:
  // Within an operator that is looked at, an allocation was made.
  void note_allocation(std::uint64_t address, std::uint64_t bytes);
  // A storage that an operator was seen to use.
  void note_storage(const StorageBlock& block);

  // An operator begins, and ends.
  void look_at_start(TensorLayout& layout, const void* function);
  void look_at_end(TensorLayout& layout, const void* function);
  // An argument or result that is neither a tensor nor a known list. `which`: the same number for the same
  // one of an operator: it is looked at some times, then rarely, as a list of numbers never becomes one of
  // tensors.
  void look_at_value(TensorLayout& layout, const BoxedValue& value, std::uint64_t which);

  // So many operators were looked at in vain that it cannot be found out.
  bool has_failed() const { return looks_ > kMostLooks; }

 private:
  static constexpr std::uint32_t kMostLooks = 2000;
  static constexpr std::uint32_t kRecent = 128;  // storages, a power of two
  static constexpr std::uint32_t kMostCandidates = 48;
  static constexpr std::uint32_t kValues = 256;  // a power of two
  static constexpr std::uint32_t kEnough = 3;    // times that a guess must have been right

  struct Candidate {
    std::int32_t vector, storage, data, bytes;
    std::uint32_t tag, votes;
  };

  // Each operand of each operator is noted: each address has one place.
  static std::size_t slot_of(const StorageBlock& block) {
    return (block.address >> 6) * 0x9e3779b97f4a7c15u >> 56 & (kRecent - 1);
  }
  bool is_recent(const StorageBlock& block, std::uint64_t least) const;  // of so many bytes at least
  void vote(const Candidate& candidate);
  void look_in_tensor(std::int32_t vector, const BoxedValue& value);
  void look_in_storage(Candidate candidate, std::uint64_t storage);
  void look_for_inputs(TensorLayout& layout, const std::uint64_t* words, std::int32_t slot);

  StorageBlock recent_[kRecent] = {};
  StorageBlock made_{};  // the last allocation in this operator
  Candidate candidates_[kMostCandidates] = {};
  std::uint32_t candidate_count_ = 0;
  std::uint32_t looks_ = 0;
  std::int32_t input_slot_ = TensorLayout::kUnknown;
  std::uint32_t input_votes_ = 0;
  std::uint16_t value_looks_[kValues] = {};  // by `which`; some share one
};

}  // namespace lotus
