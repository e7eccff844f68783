"""What the planted situations share.

Each file of this directory is a program: `FILE.py NAME bad` has one cause of a slow input pipeline planted, and
`FILE.py NAME fix` is the same without it. Both print the samples/s of the training loop as the program measured
them. Times that stand for a device are slept, times that stand for computing are CPU time.
"""
import json
import sys
import time

import torch


def burn(seconds):
    """Computes for this much CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(300))


def samples_of(batch):
    if isinstance(batch, (list, tuple)):
        return samples_of(batch[0]) if isinstance(batch[0], torch.Tensor) else len(batch)
    return samples_of(next(iter(batch.values()))) if isinstance(batch, dict) else len(batch)


class Training:
    """Counts samples from its making on; a step sleeps, as one on a GPU does for its process."""

    def __init__(self):
        self.begin, self.samples = time.perf_counter(), 0

    def step(self, batch, seconds):
        self.samples += samples_of(batch)
        time.sleep(seconds)

    def end(self):
        print(json.dumps({"samples_per_s": self.samples / (time.perf_counter() - self.begin)}))


def train(loader, step=0.004, epochs=1):
    """A whole training: all batches of all epochs. `loader`: a DataLoader, or a function that makes one."""
    training = Training()
    for _ in range(epochs):
        for batch in loader() if callable(loader) else loader:
            training.step(batch, step)
    training.end()


def main(*situations):
    """Runs the situation that the command line names."""
    torch.set_num_threads(1)
    torch.manual_seed(7)
    name, kind = sys.argv[1:]
    {situation.__name__: situation for situation in situations}[name](kind == "bad")
