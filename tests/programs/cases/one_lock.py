"""All workers read through one lock, as an HDF5 file or a cache is guarded."""
import contextlib
import multiprocessing
import time

import torch
from torch.utils.data import DataLoader, Dataset

import common


class Guarded(Dataset):
    def __init__(self, lock):
        self.lock = lock

    def __len__(self):
        return 800

    def __getitem__(self, index):
        with self.lock:
            return self.read(index)

    def read(self, index):
        time.sleep(0.005)
        return torch.zeros(3, 32, 32)


def case(bad, _):
    lock = multiprocessing.Lock() if bad else contextlib.nullcontext()
    common.train(DataLoader(Guarded(lock), batch_size=16, num_workers=4), step=0.002)


if __name__ == "__main__":
    common.main(case)
