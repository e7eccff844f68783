"""The pipeline that runs around the traps: small, and with the same results in every run.

A program prints what it makes. Its last line, `fetches N`, says how many batches were made in its processes.
"""
import gc
import threading
import time

from torch.utils.data import DataLoader, Dataset

SAMPLES = 8
BATCH = 2


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, sample):
        for transform in self.transforms:
            sample = transform(sample)
        return sample


class Scale:
    def __call__(self, value):
        return value * 3


def burn(seconds):
    """Uses CPU time, so that the timers of a thread's CPU clock go off."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(500))


class Items(Dataset):
    """What `trap` makes of an index, if it is given; then through two operations."""

    def __init__(self, trap=None, samples=SAMPLES):
        self.trap = trap
        self.samples = samples
        self.transform = Compose([Scale(), self.shift])

    def __len__(self):
        return self.samples

    def shift(self, value):
        burn(0.002)
        return value + 1

    def __getitem__(self, index):
        value = index if self.trap is None else self.trap(index)
        return self.transform(value)


batches = []


def epoch(trap=None, workers=2, samples=SAMPLES, name="", show=print, **options):
    """Goes once through a loader and shows each batch; keeps them."""
    for batch in DataLoader(Items(trap, samples), batch_size=BATCH, num_workers=workers, **options):
        show(name, *batch, flush=True)
        batches.append(batch)


def settle():
    """Waits until what the loaders used is gone: multiprocessing's threads go on for a moment."""
    gc.collect()
    while threading.active_count() > 1:
        time.sleep(0.01)


def end(more=0, times=1):
    """`more`: batches that were made in other processes, which do not count here."""
    print("fetches", times * len(batches) + more, flush=True)
