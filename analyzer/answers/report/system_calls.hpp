// What functions of the C library that are little more than a system call do, in words.
#pragma once

#include <string>
#include <string_view>

namespace lotus::analyzer {

// `__GI___getdents64` → `listing a directory: getdents64`; any other name as it is.
std::string in_words(std::string_view function);

}  // namespace lotus::analyzer
