"""A stand-in for PyTorch: its data loader alone, in pure Python, for interpreters without a PyTorch.

Modules, functions, classes and the variables in them have the names that they have in PyTorch, and call
each other in the same way; the loader's results are lists and bytes. LOADER_SHAPE in the environment
chooses between the loader of PyTorch 1.13 (`1`, the default) and that of 2.14 (`2`).
"""
from . import multiprocessing, nn, utils

__version__ = "0.0.0"
__all__ = ["multiprocessing", "nn", "utils", "set_num_threads"]


def set_num_threads(number):
    """Ignored: the stand-in has no threads."""
