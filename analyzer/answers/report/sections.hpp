// The tables of the text report. Each returns whole lines, or nothing where there is nothing to show.
#pragma once

#include <string>

#include "answers/causes/diagnosis.hpp"
#include "answers/report/findings.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

std::string stuck_text(const Findings& findings, const Terminal& terminal);
std::string cut_short_text(const Findings& findings, const Terminal& terminal);
std::string advice_text(const Findings& findings, const Diagnosis& diagnosis, const Terminal& terminal);
std::string ops_text(const Findings& findings, const Terminal& terminal, bool all);
std::string native_text(const Findings& findings, const Terminal& terminal);
std::string lost_slots_text(const Findings& findings, const Terminal& terminal);
std::string waits_text(const Findings& findings, const Terminal& terminal, bool all);
std::string times_text(const Findings& findings, const Terminal& terminal);
std::string shares_text(const Findings& findings, const Terminal& terminal);
std::string facts_text(const Findings& findings, const Terminal& terminal);
std::string workers_text(const Findings& findings, const Terminal& terminal);
std::string slow_text(const Findings& findings, const Terminal& terminal);
std::string loaders_text(const Findings& findings, const Terminal& terminal);
std::string quality_text(const Findings& findings, const Terminal& terminal);

}  // namespace lotus::analyzer
