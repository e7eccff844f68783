"""A thread lists the loaded libraries, taking the interpreter's lock for each, as threadpoolctl does."""
import ctypes
import threading

import work

FOUND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
libc = ctypes.CDLL(None)
ended = threading.Event()
asked = 0


@FOUND
def found(info, size, data):
    return 0


def ask():
    global asked
    while not ended.is_set():
        libc.dl_iterate_phdr(found, None)
        asked += 1


thread = threading.Thread(target=ask)
thread.start()
for number in range(6):  # no workers: a fork may happen while the loader's list is locked
    work.epoch(workers=0, name=f"beside it {number}")
ended.set()
thread.join()
print("asked", asked > 0)
work.end()
