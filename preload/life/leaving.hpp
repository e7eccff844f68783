// How this process ends, told in its segment (Life): who finds it dead knows whether it was killed.
#pragma once

namespace lotus {

// It is about to end by itself. Any thread, any moment: also in a child of fork() or vfork(), which says
// nothing of its parent.
void say_leaving_at_once();
// The same as it runs to its end; a person is told if no batch was seen.
void say_leaving();
// It was not: it could not become another program.
void say_staying();

}  // namespace lotus
