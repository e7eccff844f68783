"""Operations that compute for a known time. Arguments: ms of Work, samples in a batch, names of further operations."""
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

from compose import Compose


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Work:
    def __init__(self, ms):
        self.ms = ms

    def __call__(self, sample):
        burn(self.ms / 1000)
        return sample


class Added(Work):
    pass


class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 320

    def __getitem__(self, index):
        return self.transform(torch.zeros(8))


def main():
    ms, size, *more = sys.argv[1:]
    transforms = [Work(float(ms)), *(globals()[name](1) for name in more)]
    for _ in DataLoader(Rows(Compose(transforms)), int(size), num_workers=1):
        time.sleep(0.001)


main()
