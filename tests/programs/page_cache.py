"""Reads scattered pages of a file, every page once an epoch; prints what it measured of itself.

    page_cache.py KIND FILE WORKERS

KIND: `cold`, the file is not in the page cache at first; `warm`, it is; `every`, it is thrown out before each epoch,
as if it were larger than the memory. `read`: bytes that this process and its workers read from storage, by epoch;
`seconds`: of each epoch.
"""
import json
import os
import resource
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

PAGE, PAGES, OF_SAMPLE, BATCH, EPOCHS = 4096, 12288, 64, 8, 4


def make(path):
    with open(path, "wb") as file:
        for _ in range(PAGES * PAGE >> 20):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())  # a page that is not written yet stays in memory


def advise(path, advice):
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, advice)
    os.close(file)


class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.order = torch.randperm(PAGES).tolist()
        self.file = None

    def __len__(self):
        return PAGES // OF_SAMPLE

    def __getitem__(self, index):
        if self.file is None:
            self.file = os.open(self.path, os.O_RDONLY)
            os.posix_fadvise(self.file, 0, 0, os.POSIX_FADV_RANDOM)
        pages = self.order[index * OF_SAMPLE:(index + 1) * OF_SAMPLE]
        return sum(os.pread(self.file, PAGE, page * PAGE)[0] for page in pages)


def read_so_far(workers):
    who = resource.RUSAGE_CHILDREN if workers else resource.RUSAGE_SELF
    return resource.getrusage(who).ru_inblock * 512


def main():
    kind, path, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    torch.set_num_threads(1)
    make(path)
    if kind == "cold":
        advise(path, os.POSIX_FADV_DONTNEED)
    loader = DataLoader(Rows(path), batch_size=BATCH, num_workers=workers)
    truth = {"read": [], "seconds": []}
    for _ in range(EPOCHS):
        if kind == "every":
            advise(path, os.POSIX_FADV_DONTNEED)
        before, begin = read_so_far(workers), time.perf_counter()
        for _ in loader:
            time.sleep(0.002)
        truth["seconds"].append(time.perf_counter() - begin)
        truth["read"].append(read_so_far(workers) - before)
    print(json.dumps(truth))


main()
