"""Recurses up to a raised limit: interpreters from 3.11 on need no C stack for it."""
import sys

import torch  # noqa: F401  (makes the tracer attach)


def depth(levels):
    return 0 if levels == 0 else 1 + depth(levels - 1)


sys.setrecursionlimit(60000)
for levels in (900, 5000, 50000) if sys.version_info >= (3, 11) else (900, 5000):
    print(depth(levels))
sys.setrecursionlimit(1000)
try:
    depth(5000)
except RecursionError as error:
    print(error)
