// Servers of debugging information.
#pragma once

namespace lotus::collector {

// Names are asked of the servers in DEBUGINFOD_URLS, which may take minutes.
bool asks_servers();

}  // namespace lotus::collector
