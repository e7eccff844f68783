"""Reads images line by line with a decoder that measures itself; each way of reading is an operation.

    native_lines.py --libraries DIRECTORY

DIRECTORY has libcaller1.so (tests/programs/native).
"""
import ctypes
import os

from torch.utils.data import DataLoader, Dataset

import support
import truth

LINES = 300


class Lines(Dataset):
    def __init__(self, library):
        self.read_lines = library.read_lines
        self.read_lines.argtypes = [ctypes.c_uint, ctypes.c_longlong, ctypes.c_longlong, ctypes.c_bool, ctypes.c_bool,
                                    ctypes.POINTER(ctypes.c_uint)]
        self.read_lines.restype = ctypes.c_longlong

    def __len__(self):
        return 40

    def __getitem__(self, index):
        self.steady()
        self.slow_caller()
        self.waiting()
        return index

    def steady(self):
        self.read("steady", between_ns=300)

    def slow_caller(self):
        self.read("slow_caller", between_ns=5000, uneven=True)

    def waiting(self):
        self.read("waiting", between_ns=300, waits=True)

    def read(self, name, between_ns, uneven=False, waits=False):
        calls = ctypes.c_uint()
        ns = self.read_lines(LINES, 10_000, between_ns, uneven, waits, ctypes.byref(calls))
        truth.log(f"native Lines.{name} jpeg_read_scanlines {calls.value} 0 {ns}")


def main():
    options = support.arguments(__doc__, libraries=None)
    library = ctypes.CDLL(os.path.join(options.libraries, "libcaller1.so"))
    for number, batch in enumerate(DataLoader(Lines(library), num_workers=0, batch_size=8)):
        support.show(number, batch)
    truth.flush()


if __name__ == "__main__":
    main()
