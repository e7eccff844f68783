// A mark on this process that its descendants find: mapped memory with a name, which goes with the process
// and leaves no descriptor, no file and no variable behind.
#pragma once

namespace lotus {

// Nothing happens where the kernel refuses. Children by fork have it, too.
void mark_process();

// Whether this process or one that it descends from has the mark, as far as /proc tells.
bool is_marked_or_descends();

// Memory that this process shares with those that it forks from now on, so that one of them can say something
// for all. It takes a page once it is used.
void share_with_forks();

// Whether nobody has asked that before: of this process, those that it forked and the one that forked it.
bool is_first_of_forks();

}  // namespace lotus
