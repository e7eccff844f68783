// Common parts of the commands that write a file from traces.
#pragma once

#include <string>
#include <vector>

namespace lotus::analyzer {

// Throws WrongUsage if both are the same file. `done`: what the trace would be, as in "recovered".
void refuse_onto_itself(const std::string& trace, const std::string& output, const char* done);
// The same for each of the traces.
void refuse_onto_itself(const std::vector<std::string>& traces, const std::string& output, const char* done);

// Prints a message about the copy: to standard output, or to stderr if the copy went there ("-").
// Throws Unusable when it cannot be written.
void tell_of_copy(const std::string& output, const std::string& text);

}  // namespace lotus::analyzer
