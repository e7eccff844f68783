// Variables that are set for a while.
#pragma once

#include "record/process.hpp"

namespace lotus {

// Sets a variable for the life of the scope, unless a fork comes between.
template <class T>
class Setting {
 public:
  Setting(T& target, T value) : target_(target), saved_(target), generation_(process.generation) {
    target = value;
  }
  ~Setting() {
    if (generation_ == process.generation) target_ = saved_;
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  T& target_;
  T saved_;
  std::uint32_t generation_;
};

}  // namespace lotus
