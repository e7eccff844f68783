"""Becomes the parent of its children's orphans, and waits for all its children."""
import ctypes
import os

import work

PR_SET_CHILD_SUBREAPER = 36
assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
work.epoch(workers=0, name="none")
for code in (3, 4):
    if os.fork() == 0:
        os._exit(code)
codes = set()
try:
    while True:
        codes.add(os.waitstatus_to_exitcode(os.wait()[1]))
except ChildProcessError:
    print("waited for", sorted(codes))
adopts = ctypes.c_int()
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER + 1, ctypes.byref(adopts), 0, 0, 0)
print("still adopts", adopts.value)
work.end()
