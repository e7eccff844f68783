// Servers of debugging information.
#pragma once

namespace lotus::collector {

// Whether names are requested from the servers in DEBUGINFOD_URLS, which may take minutes.
bool asks_servers();

}  // namespace lotus::collector
