#include "answers/controlflow/same_codes.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace lotus::analyzer::controlflow {
namespace {

class SameCodes {
 public:
  explicit SameCodes(const Process& process) : process_(process) {}

  std::uint64_t first_of(std::uint64_t code) {
    const auto [known, fresh] = first_.try_emplace(code, code);
    if (!fresh) return known->second;
    const auto at = process_.python_codes.find(code);
    const auto table = process_.code_tables.find(code);
    if (at == process_.python_codes.end() || table == process_.code_tables.end()) return code;
    const auto identity = std::tie(at->second.file, at->second.name, at->second.line, table->second.bytecode,
                                   table->second.lines);
    return known->second = codes_.try_emplace(identity, code).first->second;
  }
  ConstructKey first_of(ConstructKey key) {
    key.code = first_of(key.code);
    return key;
  }

 private:
  using Identity = std::tuple<const std::string&, const std::string&, const std::uint64_t&,
                              const std::string&, const std::string&>;
  const Process& process_;
  std::map<Identity, std::uint64_t> codes_;
  std::map<std::uint64_t, std::uint64_t> first_;
};

void add_levels(std::vector<Parts>& to, const std::vector<Parts>& from) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i].add(from[i]);
}

void add_levels(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

}  // namespace

void Construct::add(const Construct& other) {
  within.add(other.within);
  own.add(other.own);
  entries += other.entries;
  iterations += other.iterations;
  operators += other.operators;
  lower_bound = lower_bound || other.lower_bound;
  exact = exact && other.exact;
  data_dependent = data_dependent || other.data_dependent;
  unseen = unseen || other.unseen;
  calls += other.calls;
  depth = std::max(depth, other.depth);
  add_levels(by_depth, other.by_depth);
  add_levels(calls_by_depth, other.calls_by_depth);
  test.add(other.test);
  tested_in.insert(other.tested_in.begin(), other.tested_in.end());
  early_tests += other.early_tests;
  late_tests += other.late_tests;
  taken += other.taken;
  not_taken += other.not_taken;
  unknown += other.unknown;
  taken_time.add(other.taken_time);
  not_taken_time.add(other.not_taken_time);
  joins = joins || other.joins;
  for (const auto& [work, parts] : other.leads) leads[work].add(parts);
  needed.insert(other.needed.begin(), other.needed.end());
}

Parts Construct::decides() const {
  Parts sum;
  for (const auto& [work, parts] : leads)
    if (!needed.contains(work)) sum.add(parts);
  return sum;
}

std::map<ConstructKey, Construct> merged(const Process& process, const Constructs& constructs) {
  SameCodes codes(process);
  std::map<ConstructKey, Construct> all;
  for (const auto& [key, counted] : constructs.all) {
    Construct one = counted;
    one.tested_in.clear();
    for (const ConstructKey& in : counted.tested_in) one.tested_in.insert(codes.first_of(in));
    const auto [known, fresh] = all.try_emplace(codes.first_of(key), one);
    if (!fresh) known->second.add(one);
  }
  for (const ConstructKey& key : constructs.doubted)
    if (const auto known = all.find(codes.first_of(key)); known != all.end()) known->second.exact = false;
  return all;
}

}  // namespace lotus::analyzer::controlflow
