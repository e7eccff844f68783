"""Two causes at once, of which one costs much more; `fix` has the smaller one alone."""
import gc
import multiprocessing
import time

import common
import torch
from torch.utils.data import DataLoader, Dataset, Sampler


class Quick(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.zeros(64)


class Distorted(Quick):
    def __getitem__(self, index):
        return self.distort(torch.zeros(64))

    def distort(self, sample):
        common.burn(0.002)
        return sample


def wait_a_second(_):
    time.sleep(0.9)


def startup_and_op(bad):
    init = wait_a_second if bad else None
    loader = DataLoader(Distorted(240), 8, num_workers=1, worker_init_fn=init, persistent_workers=not bad)
    common.train(loader, step=0.004, epochs=3)


class Slow(Sampler):
    def __init__(self, count, seconds):
        self.count, self.seconds = count, seconds

    def __len__(self):
        return self.count

    def __iter__(self):
        for index in range(self.count):
            if index % 8 == 0:
                common.burn(self.seconds)
            yield index


def sampler_and_op(bad):
    data = Distorted(320)
    loader = DataLoader(data, 8, num_workers=1, sampler=Slow(len(data), 0.04 if bad else 0))
    common.train(loader, step=0.004)


class Guarded(Dataset):
    """A lock for each sample and few workers; without the lock the workers are still too few."""

    def __init__(self, shared):
        self.lock = multiprocessing.Lock() if shared else None

    def __len__(self):
        return 320

    def __getitem__(self, index):
        if self.lock:
            with self.lock:
                time.sleep(0.005)
        time.sleep(0.002)
        return torch.zeros(64)


def lock_and_own_code(bad):
    common.train(DataLoader(Guarded(bad), 8, num_workers=4), step=0.001)


class Collected(Dataset):
    def __init__(self, collect):
        self.collect = collect
        self.index = [{"id": number, "words": [number]} for number in range(200_000)]

    def __len__(self):
        return 240

    def __getitem__(self, index):
        if self.collect and index % 2 == 0:
            gc.collect()
        return self.distort(torch.zeros(64))

    def distort(self, sample):
        common.burn(0.003)
        return sample


def garbage_and_op(bad):
    common.train(DataLoader(Collected(bad), 8, num_workers=2), step=0.002)


if __name__ == "__main__":
    common.main(startup_and_op, sampler_and_op, lock_and_own_code, garbage_and_op)
