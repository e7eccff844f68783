"""Pipelines with one known bottleneck: storage, op, workers, slow_worker, training, balanced, startup."""
import argparse
import functools
import time

import torch
from torch.utils.data import DataLoader, get_worker_info
from torchvision.datasets import DatasetFolder

from runners.plain import Compose


class Decode:
    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, sample):
        time.sleep(self.seconds)
        return sample


class Augment(Decode):
    pass


class Scale(Decode):
    pass


class Noise:
    """Computes for the given time."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, sample):
        end = time.thread_time() + self.seconds
        while time.thread_time() < end:
            sample = sample + 0.001
        return sample


class Uneven(Decode):
    """Takes three times as long in worker 1."""

    def __call__(self, sample):
        time.sleep(self.seconds * (3 if get_worker_info().id == 1 else 1))
        return sample


def even(ms):
    return [Decode(ms / 1e3), Augment(ms / 1e3), Scale(ms / 1e3)]


# {name: (ms to read a file, operations, workers, ms of a training step)}. A batch has 4 samples.
SITUATIONS = {
    "storage": (24, even(2), 2, 16),
    "op": (0, [Decode(0.001), Noise(0.020), Scale(0.001)], 2, 16),
    "workers": (4, even(6), 1, 30),
    "slow_worker": (2, [Uneven(0.012), Augment(0.004), Scale(0.004)], 3, 24),
    "training": (1, even(1), 2, 80),
    "balanced": (5, even(5), 2, 50),
    "startup": (1, even(1), 2, 5),  # workers are spawned for each of several short epochs
}


def read(seconds, path):
    time.sleep(seconds)
    with open(path, "rb") as file:
        return torch.zeros(3, 32, 32) + len(file.read(1000))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="an ImageFolder tree")
    parser.add_argument("--situation", choices=SITUATIONS, required=True)
    options = parser.parse_args()
    reading, transforms, workers, step = SITUATIONS[options.situation]
    torch.manual_seed(7)
    torch.set_num_threads(1)

    epochs, samples, started = (4, 40, "spawn") if options.situation == "startup" else (1, 240, None)
    dataset = DatasetFolder(options.data, functools.partial(read, reading / 1e3), extensions=(".jpeg",),
                            transform=Compose(transforms))
    sampler = torch.utils.data.RandomSampler(dataset, replacement=True, num_samples=samples)
    loader = DataLoader(dataset, batch_size=4, sampler=sampler, num_workers=workers,
                        multiprocessing_context=started)
    for _ in range(epochs):
        for _ in loader:
            time.sleep(step / 1e3)


if __name__ == "__main__":
    main()
