"""Overwrites the memory of its initial environment, as programs do that change their title."""
import ctypes
import os

import work

libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_void_p
for name in ("LOTUS_OUTPUT", "LOTUS_DIR", "LOTUS_LOG", "HOME"):
    value = libc.getenv(name.encode())
    if value:
        ctypes.memset(value, ord("x"), len(os.environ[name]))
work.epoch(workers=2, name="workers")
work.epoch(workers=0, name="none")
work.end()
