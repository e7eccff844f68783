// A mark on this process that its descendants find: mapped memory with a name, which goes with the process
// and leaves no descriptor, no file and no variable behind.
#pragma once

namespace lotus {

// Nothing happens where the kernel refuses. Children by fork have it, too.
void mark_process();

// Whether this process or one that it descends from has the mark, as far as /proc tells.
bool is_marked_or_descends();

}  // namespace lotus
