"""The pipeline in the programs of this folder: small, and with the same results in every run.

A program prints its batches. Its last line, `fetches N`, is the number of batches made in its processes.
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
    """Uses CPU time, so that timers of the thread's CPU clock expire."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(500))


class Items(Dataset):
    """Passes an index through `trap`, if given, and then through two operations."""

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
    """Runs one epoch, and shows and keeps each batch."""
    for batch in DataLoader(Items(trap, samples), batch_size=BATCH, num_workers=workers, **options):
        show(name, *batch, flush=True)
        batches.append(batch)


def settle():
    """Waits until the loaders' resources are gone: threads of multiprocessing end with a delay."""
    gc.collect()
    while threading.active_count() > 1:
        time.sleep(0.01)


def end(more=0, times=1):
    """Prints the number of batches. `more`: those of other processes, which are not counted here."""
    print("fetches", times * len(batches) + more, flush=True)
