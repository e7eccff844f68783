"""Samples whose files are opened by C code, which neither Python code nor audit events show.

    c_files.py --opener imread|fopen|open|fromfile|memmap|every --data DIRECTORY
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
    import cv2  # imported first, so that its entry points are hooked

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


def memmap(path):
    values = numpy.memmap(path, dtype=numpy.uint8, mode="r")
    truth.log("native Files.make open 1 0")
    truth.log(f"native Files.make mmap 1 {len(values)}")
    return torch.from_numpy(values[:100].copy())


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def every(path):
    """Calls every counted function of libc, under each of its names."""
    name, buffer, offset = path.encode(), ctypes.create_string_buffer(100), ctypes.c_long(0)
    vector = Vector(ctypes.addressof(buffer), 40)
    one, flags, here = ctypes.byref(vector), os.O_RDONLY, -100  # AT_FDCWD
    files = [libc.open(name, flags), libc.open64(name, flags), libc.__open_2(name, flags),
             libc.__open64_2(name, flags), libc.openat(here, name, flags), libc.openat64(here, name, flags),
             libc.__openat_2(here, name, flags), libc.__openat64_2(here, name, flags)]
    file = files[0]
    got = [libc.read(file, buffer, 11), libc.__read_chk(file, buffer, 12, ctypes.c_size_t(100)),
           libc.pread(file, buffer, 13, offset), libc.pread64(file, buffer, 14, offset),
           libc.__pread_chk(file, buffer, 15, offset, ctypes.c_size_t(100)),
           libc.__pread64_chk(file, buffer, 16, offset, ctypes.c_size_t(100)),
           libc.readv(file, one, 1), libc.preadv(file, one, 1, offset), libc.preadv64(file, one, 1, offset),
           libc.preadv2(file, one, 1, offset, 0), libc.preadv64v2(file, one, 1, offset, 0)]
    assert got == [11, 12, 13, 14, 15, 16, *[40] * 5], got
    for function in (libc.fopen, libc.fopen64):
        function.restype = ctypes.c_void_p
        stream = ctypes.c_void_p(function(name, b"r"))
        room = ctypes.c_size_t(100)
        counts = [libc.fread(buffer, 3, 5, stream), libc.fread_unlocked(buffer, 3, 5, stream),
                  libc.__fread_chk(buffer, room, 3, 5, stream), libc.__fread_unlocked_chk(buffer, room, 3, 5, stream)]
        assert counts == [5] * 4, counts
        libc.fclose(stream)
    shared = os.memfd_create("shared")
    os.truncate(shared, 4096)
    for function in (libc.mmap, libc.mmap64):
        function.restype = ctypes.c_void_p
        # Only PROT_READ and MAP_PRIVATE mean a file that is read. Anonymous memory has no file, and shared
        # writable memory connects processes.
        for mapped, protection, flags in ((file, 1, 2), (file, 1, 1), (-1, 1, 2 | 0x20), (shared, 3, 1)):
            memory = function(None, ctypes.c_size_t(4000), protection, flags, mapped, offset)
            libc.munmap(ctypes.c_void_p(memory), ctypes.c_size_t(4000))
    for file in [*files, shared]:
        os.close(file)
    for what in ("open 4 0", "openat 4 0", "read 2 23", "pread 4 58", "readv 1 40", "preadv 4 160", "fopen 2 0",
                 "fread 8 120", "mmap 4 16000"):
        truth.log(f"native Files.make {what}")
    return torch.tensor(got)


class Files(Dataset):
    def __init__(self, paths, opener):
        self.paths, self.opener = paths, opener

    def __len__(self):
        return len(self.paths)

    def make(self, path):
        libc.open(b"/etc/hostname", os.O_RDONLY | os.O_CLOEXEC)  # not data: never the sample's path
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
