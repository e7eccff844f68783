"""Samples whose files are opened by C code, which no Python code and no audit event tells of.

    c_files.py --opener imread|fopen|open|fromfile --data DIRECTORY
"""
import ctypes
import os

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

import support
import truth

libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.fclose.argtypes = [ctypes.c_void_p]
libc.fread.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]


def imread(path):
    import cv2  # its rows of hooks are found when it is there

    pixels = cv2.cvtColor(cv2.resize(cv2.imread(path), (16, 16)), cv2.COLOR_BGR2RGB)
    for name in ("imread", "resize", "cvtColor"):
        truth.log(f"native Files.make {name} 1 0")
    return torch.from_numpy(pixels)


def fopen(path):
    file = libc.fopen(path.encode(), b"rb")
    buffer = ctypes.create_string_buffer(100)
    assert libc.fread(buffer, 10, 10, file) == 10
    libc.fclose(file)
    truth.log("native Files.make fopen 1 0")
    truth.log("native Files.make fread 1 100")
    return torch.tensor(list(buffer.raw))


def open(path):
    file = libc.open(path.encode(), os.O_RDONLY)
    buffer = ctypes.create_string_buffer(100)
    assert libc.pread(file, buffer, 100, ctypes.c_long(50)) == 100
    os.close(file)
    truth.log("native Files.make open 1 0")
    truth.log("native Files.make pread 1 100")
    return torch.tensor(list(buffer.raw))


def fromfile(path):
    values = numpy.fromfile(path, dtype=numpy.uint8)
    truth.log("native Files.make fromfile 1 0")
    truth.log("native Files.make open 1 0")
    truth.log(f"native Files.make fread 1 {len(values)}")
    return torch.from_numpy(values[:100])


class Files(Dataset):
    def __init__(self, paths, opener):
        self.paths, self.opener = paths, opener

    def __len__(self):
        return len(self.paths)

    def make(self, path):
        libc.open(b"/etc/hostname", os.O_RDONLY | os.O_CLOEXEC)  # no data file, and never the sample's
        libc.open(b"/nowhere/at/all", os.O_RDONLY)
        truth.log("native Files.make open 2 0")
        return self.opener(path)

    def __getitem__(self, index):
        return self.make(self.paths[index])


def main():
    options = support.arguments(__doc__, opener=None)
    opener = globals()[options.opener]
    paths = support.photographs(options.data)
    opener(paths[0])
    truth.discard()
    loader = DataLoader(Files(paths, opener), batch_size=options.batch_size, num_workers=options.workers)
    for number, batch in enumerate(loader):
        support.show(number, batch)
    truth.flush()


if __name__ == "__main__":
    main()
