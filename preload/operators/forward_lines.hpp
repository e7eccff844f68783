// Which line of the forward pass an operator of the backward pass belongs to. Autograd numbers the nodes of
// its graph, per thread; an operator that makes nodes has numbers from its begin to its end, and the observer
// of a node that runs is told that node's number. Where it stands in an at::RecordFunction is found out on
// operators: there it is the number that comes next, or none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lotus {

// Of the thread that trains. All zero at first: it takes no room in the file.
class ForwardLines {
 public:
  // A step begins in the calling thread: what was noted in another one, or before a fork, is forgotten.
  void begin_step(const void* thread, std::uint32_t process_generation);

  // An operator begins; `next`: the number that the next node will have.
  void look(const void* function, std::uint64_t next);
  bool is_searched_for() const { return offset_ == 0 && looks_ < kLooks; }

  // The operator that was called at `place` made the nodes with numbers from `begin` to before `end`.
  void note(std::uint64_t begin, std::uint64_t end, std::uint32_t place);
  // The place of the operator that made the node that begins to run; 0: not known.
  std::uint32_t place_of(const void* function) const;

 private:
  static constexpr std::uint32_t kWords = 64;     // of a RecordFunction that are looked at
  static constexpr std::uint32_t kLooks = 2000;   // at most
  static constexpr std::uint32_t kEnough = 6;     // different numbers that it must have shown
  static constexpr std::size_t kNodes = 1 << 14;  // the latest ones are known; a power of two

  struct Node {
    std::uint64_t number;
    std::uint32_t place, era;
  };

  std::uint32_t offset_ = 0;  // in bytes; 0: not found yet
  std::uint32_t looks_ = 0;
  bool excluded_[kWords] = {};
  std::uint64_t last_[kWords] = {};
  std::uint8_t votes_[kWords] = {};
  const void* thread_ = nullptr;
  std::uint32_t process_generation_ = 0;
  std::uint32_t era_ = 0;  // of the same thread
  Node nodes_[kNodes] = {};
};

}  // namespace lotus
