#pragma once

namespace lotus {

/// The release, and the commit that was built with its date: "0.2.0 (commit 0123456789ab, 2026-01-31)".
/// Without git "unknown commit" stands for both. Made by tools/version.cmake, linked into the programs.
const char* version();

}  // namespace lotus
