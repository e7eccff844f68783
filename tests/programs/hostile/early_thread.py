"""A thread that is older than `import torch`, and during a sample uses its stack pointer for other purposes.

    early_thread.py DIRECTORY     with libhostile.so
"""
import ctypes
import os
import queue
import sys
import threading

native = ctypes.CDLL(os.path.join(sys.argv[1], "libhostile.so"))
asked, answered = queue.Queue(), queue.Queue()


def serve():
    while asked.get():
        answered.put(native.borrow_stack(40))


thread = threading.Thread(target=serve)
thread.start()

import work  # noqa: E402, imports torch


def ask(index):
    asked.put(True)
    work.burn(0.01)
    return answered.get() + index


work.epoch(ask, workers=0, name="changed")
work.epoch(workers=2, name="workers")
asked.put(False)
thread.join()
work.end()
