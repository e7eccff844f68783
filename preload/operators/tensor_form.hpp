// Kinds and sizes of tensors: where a c10::TensorImpl keeps them is found out on the program's own tensors
// that take all of a storage of known size. To ask a tensor for them could run the program's own
// __torch_dispatch__; what is read here are the object's words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "operators/tensor_layout.hpp"

namespace lotus {

// Offsets in bytes in a TensorImpl; 0: not found yet. The sizes, up to five, follow the word that says how
// many there are, then as many strides; where there are more, a pointer to both follows it.
struct FormLayout {
  std::int32_t dimensions = 0;
  std::int32_t elements = 0;  // their number; where the tensor begins stands before it
  std::int32_t type = 0;      // c10::ScalarType, 16 bits

  bool is_known() const { return type != 0; }
};

// What a tensor is, as far as it is known. form: see Kind::tensor_form, 0 not known; offset: of its first
// element in its storage, in bytes.
struct TensorForm {
  std::uint32_t form = 0;
  std::uint64_t offset = 0;
};

// Of the thread that trains. All zero at first: it takes no room in the file.
class TensorForms {
 public:
  // `tensor`: a TensorImpl with this storage.
  TensorForm form_of(std::uint64_t tensor, const StorageBlock& block);

 private:
  static constexpr std::uint32_t kMostLooks = 5000;
  static constexpr std::uint32_t kEnough = 4;  // tensors that must have shown the same
  static constexpr std::size_t kForms = 2048;  // a power of two
  static constexpr std::size_t kProbes = 8;

  struct Known {
    std::uint64_t hash;
    std::uint32_t id, generation;  // id 0: free
  };

  void look(std::uint64_t tensor, const StorageBlock& block);
  bool looks_like(const std::uint64_t* words, std::int32_t slot, const StorageBlock& block);
  void vote(std::int32_t dimensions, std::int32_t elements, std::uint32_t types);
  std::uint32_t id_of(std::uint64_t type, const std::uint64_t* sizes, std::uint64_t dimensions);

  FormLayout layout_{};
  FormLayout guess_{};
  std::uint32_t guessed_types_ = 0;  // bits: places after the number of elements where the type may stand
  std::uint32_t votes_ = 0, looks_ = 0;
  Known known_[kForms] = {};
  std::uint32_t known_count_ = 0;
};

}  // namespace lotus
