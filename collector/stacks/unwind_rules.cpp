#include "unwind_rules.hpp"

#include <algorithm>

#include "stacks/location_expression.hpp"

namespace lotus::collector {
namespace {

constexpr std::size_t kMaxRules = std::size_t{1} << 15;  // 4 MiB; at the limit, all rules are discarded
constexpr std::uint64_t kLeastBytes = 64;                // that a rule counts for

// The code that returns from a signal's handler. The frame that it returns to made no call: the signal
// interrupted it.
constexpr std::uint8_t kReturnOnX86[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
                                         0,    0,    0x0f, 0x05};  // mov $15,%rax; syscall
constexpr std::uint8_t kReturnOnAarch64[] = {0x68, 0x11, 0x80, 0xd2,
                                             0x01, 0,    0,    0xd4};  // mov x8, #139; svc #0

// A kernel of aarch64 leaves the interrupted registers here, from the stack pointer on: behind a siginfo and
// before the sp and the pc in an ucontext. Newer ones say so in no table.
constexpr std::int32_t kSavedRegisters = 312, kSavedStackPointer = 560, kSavedProgramCounter = 568;

bool fits(std::int64_t offset) { return offset == static_cast<std::int32_t>(offset); }

// Reads one row as a rule.
class Reading {
 public:
  Reading(const CallFrameRow& row, const Registers& registers, std::uint64_t address)
      : row_(row), registers_(registers), address_(address) {}

  UnwindRule rule() const {
    UnwindRule rule;
    if (row_.return_address >= registers_.count) return rule;
    if (row_.registers[row_.return_address].is == CallFrameRule::Is::undefined) {
      rule.kind = UnwindRule::Kind::last;
      return rule;
    }
    rule.return_address = place_of(row_.return_address);
    // x86-64 has the return address in no register.
    const bool nowhere =
        rule.return_address.base == UnwindRule::kSame && row_.return_address == registers_.program_counter;
    if (rule.return_address.base == UnwindRule::kUnknown || nowhere || !read_cfa(rule)) return {};
    const auto kept = kept_registers(registers_.machine);
    for (std::size_t i = 0; i < kept.size(); ++i) rule.kept[i] = place_of(kept[i]);
    rule.kind = UnwindRule::Kind::caller;
    return rule;
  }

 private:
  bool read_cfa(UnwindRule& rule) const {
    const CallFrameRule& cfa = row_.cfa;
    Term term;
    if (cfa.is == CallFrameRule::Is::sum && cfa.number < registers_.count)
      term = {Term::Is::sum, static_cast<std::uint8_t>(cfa.number), 0, cfa.offset};
    else if (cfa.is == CallFrameRule::Is::expression)
      term = evaluate(cfa.expression, {}, registers_, address_);
    const bool is_sum = term.is == Term::Is::sum, is_loaded = term.is == Term::Is::loaded;
    if ((!is_sum && !is_loaded) || !fits(term.offset) || !fits(term.inner)) return false;
    rule.cfa_is_loaded = is_loaded;
    rule.cfa = {term.base, static_cast<std::int32_t>(is_loaded ? term.inner : term.offset)};
    rule.cfa_offset = is_loaded ? static_cast<std::int32_t>(term.offset) : 0;
    return true;
  }

  UnwindRule::Place place_of(std::uint64_t number) const {
    const CallFrameRule& rule = row_.registers[number];
    if (rule.is == CallFrameRule::Is::same) return {UnwindRule::kSame, 0};
    Term term;
    if (rule.is == CallFrameRule::Is::at_cfa)
      term = {Term::Is::sum, Term::kCfa, 0, rule.offset};
    else if (rule.is == CallFrameRule::Is::saved_at)
      term = evaluate(rule.expression, {Term::Is::sum, Term::kCfa, 0, 0}, registers_, address_);
    if (term.is != Term::Is::sum || !fits(term.offset)) return {};
    return {term.base, static_cast<std::int32_t>(term.offset)};
  }

  const CallFrameRow& row_;
  const Registers& registers_;
  std::uint64_t address_;
};

// What returns from a handler is entered by a return, so it begins at `address`, or 1 byte later if that is a
// return address minus 1.
bool returns_from_handler(const ElfFile& file, std::uint64_t address) {
  const std::span<const std::uint8_t> wanted = file.machine() == Machine::aarch64
                                                   ? std::span<const std::uint8_t>(kReturnOnAarch64)
                                                   : std::span<const std::uint8_t>(kReturnOnX86);
  auto code = file.from(address);
  code = code.first(std::min(code.size(), wanted.size() + 1));
  return std::search(code.begin(), code.end(), wanted.begin(), wanted.end()) != code.end();
}

UnwindRule rule_of_interrupted() {
  UnwindRule rule;
  constexpr std::uint8_t kStackPointer = registers_of(Machine::aarch64).stack_pointer;
  rule.kind = UnwindRule::Kind::caller;
  rule.cfa_is_loaded = true;
  rule.cfa = {kStackPointer, kSavedStackPointer};
  rule.return_address = {kStackPointer, kSavedProgramCounter};
  for (std::size_t i = 0; i < kMaxKept; ++i)
    rule.kept[i] = {kStackPointer, kSavedRegisters + 8 * kKeptOfAarch64[i]};
  return rule;
}

}  // namespace

const KnownCode& UnwindRules::work_out(std::uint64_t address) {
  if (bytes_left_ == 0) return not_kept_ = {address, 0, {}};
  const ElfFile* file = binaries_.file(binary_of(address));
  // If the binary's file was not found, no rule is kept: another process may be able to open the file.
  if (file == nullptr) return not_kept_ = {address, 0, {}};
  UnwindRule rule;
  std::uint64_t read = kLeastBytes;
  const bool returns = returns_from_handler(*file, offset_of(address));
  if (returns && file->machine() == Machine::aarch64)
    rule = rule_of_interrupted();
  else if (const auto row = call_frame_row(*file, offset_of(address), read))
    rule = Reading(*row, registers_of(file->machine()), address).rule();
  rule.interrupted = returns;
  bytes_left_ -= std::min(bytes_left_, read);
  if (known_.size() >= kMaxRules) known_.clear();
  return known_.add({address, 0, rule});
}

std::optional<FunctionExtent> UnwindRules::function_at(BinaryId binary, std::uint64_t offset) {
  const ElfFile* file = binaries_.file(binary);
  return file != nullptr ? call_frame_function(*file, offset) : std::nullopt;
}

}  // namespace lotus::collector
