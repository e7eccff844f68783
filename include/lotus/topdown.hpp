// Top-down analysis: what became of the slots in which a processor could have begun an operation. Which of
// its events say so, for the writer, and by which formulas, for the reader: a table for each kind of
// processor.
//
// Yasin, A Top-Down Method for Performance Analysis and Counters Architecture (ISPASS 2014). The events and
// formulas are those of Linux, in tools/perf: Documentation/topdown.txt (Intel),
// pmu-events/arch/x86/amdzen4/pipeline.json and amdzen5/pipeline.json (AMD's pipeline utilisation),
// pmu-events/arch/arm64/arm/neoverse-*/metrics.json and arm64/sbsa.json (Arm). Newer ones divide Intel's by
// the sum of the four parts of the first level, which is the slots but for rounding, and take from the
// latency of fetches what INT_MISC.UOP_DROPPING counts, for which there is no room here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <lotus/counters.hpp>
#include <span>
#include <string_view>

namespace lotus {

// A processor as its maker numbers it. x86: of cpuid. Arm: the implementer as `0x41`, 0, the part's number.
struct ProcessorId {
  std::string_view vendor;
  std::uint64_t family, model;
};

// What slots were used for or lost to; the second half divides the first half's parts.
enum class TopdownPart : std::uint8_t {
  retiring,
  bad_speculation,
  frontend,
  backend,
  other_thread,  // of the same core
  heavy_operations,
  light_operations,
  mispredicts,
  restarts,
  fetch_latency,
  fetch_bandwidth,
  memory,
  core,
};

// `formula` names counters, with spaces around its operators, and gives a share between 0 and 1.
struct TopdownShare {
  TopdownPart part;
  const char* formula;
};

struct TopdownModel {
  std::string_view name;               // of the processors
  std::string_view unit;               // what the shares are shares of
  std::span<const CounterRow> events;  // in the order in which they are grouped
  std::span<const TopdownShare> shares;
};

// Intel's: the kernel counts the others in its group only.
inline constexpr CounterRow kSlots{"slots", CounterSource::leading, 0x0400};

namespace detail {
// As the kernel expects an AMD event's number: bits 8 to 11 of the event stand above the mask.
constexpr std::uint64_t amd(std::uint64_t event, std::uint64_t umask, std::uint64_t least = 0) {
  return (event & 0xff) | umask << 8 | least << 24 | (event >> 8) << 32;
}

// clang-format off
inline constexpr CounterRow kIntelEvents[] = {
    kSlots,
    {"topdown-retiring",      CounterSource::led,     0x8000},
    {"topdown-bad-spec",      CounterSource::led,     0x8100},
    {"topdown-fe-bound",      CounterSource::led,     0x8200},
    {"topdown-be-bound",      CounterSource::led,     0x8300},
    {"topdown-heavy-ops",     CounterSource::led,     0x8400},
    {"topdown-br-mispredict", CounterSource::led,     0x8500},
    {"topdown-fetch-lat",     CounterSource::led,     0x8600},
    {"topdown-mem-bound",     CounterSource::led,     0x8700},
};
inline constexpr TopdownShare kIntelShares[] = {
    {TopdownPart::retiring,         "topdown-retiring / slots"},
    {TopdownPart::bad_speculation,  "topdown-bad-spec / slots"},
    {TopdownPart::frontend,         "topdown-fe-bound / slots"},
    {TopdownPart::backend,          "topdown-be-bound / slots"},
    {TopdownPart::heavy_operations, "topdown-heavy-ops / slots"},
    {TopdownPart::light_operations, "( topdown-retiring - topdown-heavy-ops ) / slots"},
    {TopdownPart::mispredicts,      "topdown-br-mispredict / slots"},
    {TopdownPart::restarts,         "( topdown-bad-spec - topdown-br-mispredict ) / slots"},
    {TopdownPart::fetch_latency,    "topdown-fetch-lat / slots"},
    {TopdownPart::fetch_bandwidth,  "( topdown-fe-bound - topdown-fetch-lat ) / slots"},
    {TopdownPart::memory,           "topdown-mem-bound / slots"},
    {TopdownPart::core,             "( topdown-be-bound - topdown-mem-bound ) / slots"},
};

inline constexpr CounterRow kZen4Events[] = {
    {"cycles",                                       CounterSource::hardware, 0},
    {"de_no_dispatch_per_slot.no_ops_from_frontend", CounterSource::raw,      amd(0x1a0, 0x01)},
    {"de_no_dispatch_per_slot.backend_stalls",       CounterSource::raw,      amd(0x1a0, 0x1e)},
    {"de_no_dispatch_per_slot.smt_contention",       CounterSource::raw,      amd(0x1a0, 0x60)},
    {"de_src_op_disp.all",                           CounterSource::raw,      amd(0xaa, 0x07)},
    {"ex_ret_ops",                                   CounterSource::raw,      amd(0xc1, 0)},
    {"no_ops_from_frontend.cmask_6",                 CounterSource::raw,      amd(0x1a0, 0x01, 6)},
    {"ex_no_retire.load_not_complete",               CounterSource::raw,      amd(0xd6, 0xa2)},
    {"ex_no_retire.not_complete",                    CounterSource::raw,      amd(0xd6, 0x02)},
    {"branch-misses",                                CounterSource::hardware, 5},
    {"resyncs_or_nc_redirects",                      CounterSource::raw,      amd(0x96, 0)},
    {"ex_ret_ucode_ops",                             CounterSource::raw,      amd(0x1c2, 0)},
};
inline constexpr CounterRow kZen5Events[] = {
    {"cycles",                                       CounterSource::hardware, 0},
    {"de_no_dispatch_per_slot.no_ops_from_frontend", CounterSource::raw,      amd(0x1a0, 0x01)},
    {"de_no_dispatch_per_slot.backend_stalls",       CounterSource::raw,      amd(0x1a0, 0x1e)},
    {"de_no_dispatch_per_slot.smt_contention",       CounterSource::raw,      amd(0x1a0, 0x60)},
    {"de_src_op_disp.all",                           CounterSource::raw,      amd(0xaa, 0x07)},
    {"ex_ret_ops",                                   CounterSource::raw,      amd(0xc1, 0)},
    {"no_ops_from_frontend.cmask_8",                 CounterSource::raw,      amd(0x1a0, 0x01, 8)},
    {"ex_no_retire.load_not_complete",               CounterSource::raw,      amd(0xd6, 0xa2)},
    {"ex_no_retire.not_complete",                    CounterSource::raw,      amd(0xd6, 0x02)},
    {"branch-misses",                                CounterSource::hardware, 5},
    {"bp_redirects.resync",                          CounterSource::raw,      amd(0x9f, 0x01)},
    {"ex_ret_ucode_ops",                             CounterSource::raw,      amd(0x1c2, 0)},
};
#define LOTUS_ZEN_SHARES(width, latency, resyncs)                                                                \
    {TopdownPart::retiring,         "ex_ret_ops / ( " width " * cycles )"},                                      \
    {TopdownPart::bad_speculation,  "( de_src_op_disp.all - ex_ret_ops ) / ( " width " * cycles )"},             \
    {TopdownPart::frontend,         "de_no_dispatch_per_slot.no_ops_from_frontend / ( " width " * cycles )"},    \
    {TopdownPart::backend,          "de_no_dispatch_per_slot.backend_stalls / ( " width " * cycles )"},          \
    {TopdownPart::other_thread,     "de_no_dispatch_per_slot.smt_contention / ( " width " * cycles )"},          \
    {TopdownPart::heavy_operations, "ex_ret_ucode_ops / ( " width " * cycles )"},                                \
    {TopdownPart::light_operations, "( ex_ret_ops - ex_ret_ucode_ops ) / ( " width " * cycles )"},               \
    {TopdownPart::mispredicts,      "( de_src_op_disp.all - ex_ret_ops ) / ( " width " * cycles )"               \
                                    " * branch-misses / ( branch-misses + " resyncs " )"},                      \
    {TopdownPart::restarts,         "( de_src_op_disp.all - ex_ret_ops ) / ( " width " * cycles )"               \
                                    " * " resyncs " / ( branch-misses + " resyncs " )"},                       \
    {TopdownPart::fetch_latency,    latency " / cycles"},                                                        \
    {TopdownPart::fetch_bandwidth,  "de_no_dispatch_per_slot.no_ops_from_frontend / ( " width " * cycles ) - "   \
                                    latency " / cycles"},                                                        \
    {TopdownPart::memory,           "de_no_dispatch_per_slot.backend_stalls / ( " width " * cycles )"            \
                                    " * ex_no_retire.load_not_complete / ex_no_retire.not_complete"},            \
    {TopdownPart::core,             "de_no_dispatch_per_slot.backend_stalls / ( " width " * cycles )"            \
                                    " * ( 1 - ex_no_retire.load_not_complete / ex_no_retire.not_complete )"},
inline constexpr TopdownShare kZen4Shares[] = {
    LOTUS_ZEN_SHARES("6", "no_ops_from_frontend.cmask_6", "resyncs_or_nc_redirects")};
inline constexpr TopdownShare kZen5Shares[] = {
    LOTUS_ZEN_SHARES("8", "no_ops_from_frontend.cmask_8", "bp_redirects.resync")};
#undef LOTUS_ZEN_SHARES

inline constexpr CounterRow kNeoverseSlotEvents[] = {
    {"cycles",              CounterSource::hardware, 0},
    {"stall_slot_frontend", CounterSource::raw,      0x3e},
    {"stall_slot_backend",  CounterSource::raw,      0x3d},
    {"stall_slot",          CounterSource::raw,      0x3f},
    {"op_retired",          CounterSource::raw,      0x3a},
    {"op_spec",             CounterSource::raw,      0x3b},
    {"br_mis_pred",         CounterSource::raw,      0x10},
};
// A mispredicted branch takes 4 cycles' worth of slots that the events count to the front end.
inline constexpr TopdownShare kNeoverseV1Shares[] = {
    {TopdownPart::retiring,        "op_retired / op_spec * ( 1 - stall_slot / ( 8 * cycles ) )"},
    {TopdownPart::bad_speculation, "( 1 - op_retired / op_spec ) * ( 1 - stall_slot / ( 8 * cycles ) )"
                                   " + 4 * br_mis_pred / cycles"},
    {TopdownPart::frontend,        "stall_slot_frontend / ( 8 * cycles ) - 4 * br_mis_pred / cycles"},
    {TopdownPart::backend,         "stall_slot_backend / ( 8 * cycles )"},
};
inline constexpr TopdownShare kNeoverseV2Shares[] = {
    {TopdownPart::retiring,        "op_retired / op_spec * ( 1 - stall_slot / ( 8 * cycles ) )"},
    {TopdownPart::bad_speculation, "( 1 - op_retired / op_spec ) * ( 1 - stall_slot / ( 8 * cycles ) )"},
    {TopdownPart::frontend,        "stall_slot_frontend / ( 8 * cycles )"},
    {TopdownPart::backend,         "stall_slot_backend / ( 8 * cycles )"},
};
// It counts no slots: cycles in which one of its halves had nothing to hand on, or could not take it.
inline constexpr CounterRow kNeoverseN1Events[] = {
    {"cycles",         CounterSource::hardware, 0},
    {"stall_frontend", CounterSource::raw,      0x23},
    {"stall_backend",  CounterSource::raw,      0x24},
};
inline constexpr TopdownShare kNeoverseN1Shares[] = {
    {TopdownPart::frontend, "stall_frontend / cycles"},
    {TopdownPart::backend,  "stall_backend / cycles"},
};
}  // namespace detail

inline constexpr TopdownModel kIntelIceLake{
    "Intel since Ice Lake", "slots", std::span(detail::kIntelEvents).first(5), std::span(detail::kIntelShares).first(4)};
inline constexpr TopdownModel kIntelSapphireRapids{
    "Intel since Sapphire Rapids", "slots", detail::kIntelEvents, detail::kIntelShares};
inline constexpr TopdownModel kAmdZen4{"AMD Zen 4", "slots", detail::kZen4Events, detail::kZen4Shares};
inline constexpr TopdownModel kAmdZen5{"AMD Zen 5", "slots", detail::kZen5Events, detail::kZen5Shares};
inline constexpr TopdownModel kNeoverseN1{
    "Arm Neoverse N1", "cycles", detail::kNeoverseN1Events, detail::kNeoverseN1Shares};
inline constexpr TopdownModel kNeoverseV1{
    "Arm Neoverse V1", "slots", detail::kNeoverseSlotEvents, detail::kNeoverseV1Shares};
inline constexpr TopdownModel kNeoverseV2{
    "Arm Neoverse V2", "slots", detail::kNeoverseSlotEvents, detail::kNeoverseV2Shares};

struct ProcessorRow {
  std::string_view vendor;
  std::uint64_t family, first_model, last_model;
  const TopdownModel& topdown;
};
// Models as arch/x86/include/asm/intel-family.h, tools/perf/pmu-events/arch/x86/mapfile.csv and
// arch/arm64/include/asm/cputype.h in Linux have them. Not here: processors with two kinds of cores, of which
// only one has these events.
inline constexpr ProcessorRow kProcessorRows[] = {
    {"GenuineIntel", 6,  0x6a,  0x6a,  kIntelIceLake},
    {"GenuineIntel", 6,  0x6c,  0x6c,  kIntelIceLake},
    {"GenuineIntel", 6,  0x7d,  0x7e,  kIntelIceLake},
    {"GenuineIntel", 6,  0x8c,  0x8d,  kIntelIceLake},         // Tiger Lake
    {"GenuineIntel", 6,  0xa7,  0xa7,  kIntelIceLake},         // Rocket Lake
    {"GenuineIntel", 6,  0x8f,  0x8f,  kIntelSapphireRapids},
    {"GenuineIntel", 6,  0xcf,  0xcf,  kIntelSapphireRapids},  // Emerald Rapids
    {"GenuineIntel", 6,  0xad,  0xae,  kIntelSapphireRapids},  // Granite Rapids
    {"AuthenticAMD", 25, 0x10,  0x1f,  kAmdZen4},
    {"AuthenticAMD", 25, 0x60,  0x7f,  kAmdZen4},
    {"AuthenticAMD", 25, 0xa0,  0xaf,  kAmdZen4},
    {"AuthenticAMD", 26, 0x00,  0x2f,  kAmdZen5},
    {"AuthenticAMD", 26, 0x40,  0x4f,  kAmdZen5},
    {"AuthenticAMD", 26, 0x60,  0x7f,  kAmdZen5},
    {"0x41",         0,  0xd0c, 0xd0c, kNeoverseN1},
    {"0x41",         0,  0xd40, 0xd40, kNeoverseV1},
    {"0x41",         0,  0xd4f, 0xd4f, kNeoverseV2},
};
// clang-format on

// nullptr: what this processor's slots are lost to is not known.
constexpr const TopdownModel* topdown_of(const ProcessorId& processor) {
  for (const ProcessorRow& row : kProcessorRows)
    if (row.vendor == processor.vendor && row.family == processor.family &&
        row.first_model <= processor.model && processor.model <= row.last_model)
      return &row.topdown;
  return nullptr;
}

}  // namespace lotus
