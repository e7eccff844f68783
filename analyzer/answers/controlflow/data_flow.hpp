// Which operators of a region use what which others made, and so which of them only serve control flow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "answers/controlflow/region.hpp"

namespace lotus::analyzer::controlflow {

// An operator by which Python gets to know a tensor's values: "aten::item".
bool extracts(const std::string& name);

class DataFlow {
 public:
  explicit DataFlow(const Region& region);

  // Beside Region::operators.
  // Control operators: those that extract, and those of which all results serve only control operators. A
  // result that is still there at the region's end may serve anything.
  const std::vector<bool>& control() const { return control_; }
  // The extracting operator that a control operator serves first; kNobody: it is none.
  const std::vector<std::size_t>& serves() const { return serves_; }
  // By operator: those whose results it uses.
  const std::vector<std::vector<std::size_t>>& makers() const { return makers_; }
  // Whether an operator's results reach one of `goals`, by way of others.
  std::vector<bool> reaching(const std::vector<bool>& goals) const;

  static constexpr std::size_t kNobody = ~std::size_t{0};

 private:
  void find_control(const Region& region);

  std::vector<std::vector<std::size_t>> users_, makers_;  // users: by operator, those that use its results
  struct Result {
    bool used = false, stays = false;
    std::vector<std::size_t> users;
  };
  std::vector<std::vector<Result>> results_;  // by operator
  std::vector<bool> control_;
  std::vector<std::size_t> serves_;
};

}  // namespace lotus::analyzer::controlflow
