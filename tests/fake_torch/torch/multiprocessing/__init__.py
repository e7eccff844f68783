"""The standard library's multiprocessing, because the stand-in has no tensors that need shared memory."""
import multiprocessing
from multiprocessing import *  # noqa: F401,F403

__all__ = list(multiprocessing.__all__)
