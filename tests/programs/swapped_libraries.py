"""The training process replaces a library by another one; operations call the one that is loaded.

    swapped_libraries.py LIBRARIES

LIBRARIES has libbefore.so, libafter.so and liblate.so, each with a function burn_before, burn_after, burn_late. The first is
unloaded before the second is loaded, the third is loaded by each worker. Prints the addresses of the first two functions.
"""
import _ctypes
import ctypes
import os
import sys

from torch.utils.data import DataLoader, Dataset

from runners.plain import Compose

ROUNDS, SAMPLES = 10_000_000, 32  # rounds per call, samples per epoch


def load(name):
    return ctypes.CDLL(os.path.join(sys.argv[1], f"lib{name}.so"))


class Before:
    def __call__(self, library):
        library.burn_before(ctypes.c_long(ROUNDS))
        return library


class After:
    def __call__(self, library):
        library.burn_after(ctypes.c_long(ROUNDS))
        return library


class Late:
    def __call__(self, library):
        load("late").burn_late(ctypes.c_long(ROUNDS))
        return library


class Burning(Dataset):
    def __init__(self, library, transforms):
        self.library, self.transform = library, Compose(transforms)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        self.transform(self.library)
        return index


def epoch(library, transforms):
    for _ in DataLoader(Burning(library, transforms), batch_size=4, num_workers=2):
        pass


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


before = load("before")
print(address(before.burn_before))
epoch(before, [Before()])
_ctypes.dlclose(before._handle)
after = load("after")
print(address(after.burn_after))
epoch(after, [After(), Late()])
