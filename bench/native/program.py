"""Calls native entry points in a loop, outside the pipeline and inside a sample; prints ns per call as JSON."""
import ctypes
import json
import sys
import time
import zlib

import torch
from torch.utils.data import DataLoader, Dataset

library = ctypes.CDLL(sys.argv[1])
file = open(sys.argv[1], "rb")
packed = zlib.compress(b"x")
tensor = torch.ones(1)


def decompress(count):
    for _ in range(count):
        zlib.decompress(packed)


def negate(count):
    for _ in range(count):
        tensor.neg()


CASES = {"jpeg_read_scanlines": (lambda count: library.read_lines(ctypes.c_uint64(count)), 2_000_000),
         "WebPDecode": (lambda count: library.decode_webp(ctypes.c_uint64(count)), 1_000_000),
         "pread of one byte": (lambda count: library.read_bytes(file.fileno(), ctypes.c_uint64(count)), 200_000),
         "zlib.decompress of one byte": (decompress, 100_000),
         "aten::neg of one number": (negate, 50_000)}


def measure():
    result = {}
    for name, (run, count) in CASES.items():
        run(count // 10)
        begin = time.perf_counter_ns()
        run(count)
        result[name] = (time.perf_counter_ns() - begin) / count
    return result


class Samples(Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return measure()


torch.set_num_threads(1)
inside = next(iter(DataLoader(Samples(), batch_size=None)))
print(json.dumps({"outside": measure(), "inside": inside}))
