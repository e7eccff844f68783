"""Two loaders: one does little besides PyTorch's operators, the other calls few of them.

Prints the number of operators, and the total time of Cold, which is slow only in each epoch's first batch.
The tracer counts operators in that batch, so it must not extrapolate from it.
"""
import argparse
import collections
import json
import time

import torch
from torch.utils.data import DataLoader, Dataset

from runners.plain import Compose

BATCH, SAMPLES = 4, 2400  # of the first loader
counted = collections.Counter()  # (operation, operator): calls, by this process


class Dense:
    """Calls a number of operators that depends on the sample's index."""

    def __call__(self, index):
        value = torch.zeros(4)
        for _ in range(index % 40 + 10):
            value = value.add(1)
            counted["Dense", "aten::add"] += 1
        return value


class Even:
    """Always calls the same number of operators."""

    def __call__(self, value):
        for _ in range(25):
            value = value.mul(2)
            counted["Even", "aten::mul"] += 1
        return value


class Cold:
    def __init__(self):
        self.calls, self.spent_s = 0, 0.0

    def __call__(self, value):
        cold = self.calls % SAMPLES < BATCH
        self.calls += 1
        begin = time.perf_counter()
        torch.ones(1_000_000 if cold else 4)
        self.spent_s += time.perf_counter() - begin
        counted["Cold", "aten::ones"] += 1
        return value


class Sparse:
    def __call__(self, index):
        time.sleep(0.02)
        counted["Sparse", "aten::full"] += 1
        return torch.full((4,), index)


class Samples(Dataset):
    def __init__(self, length, *transforms):
        self.length, self.transform = length, Compose(list(transforms))

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.transform(index)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    cold = Cold()
    dense = DataLoader(Samples(SAMPLES, Dense(), Even(), cold), batch_size=BATCH, shuffle=True)
    sparse = DataLoader(Samples(48, Sparse()), batch_size=4)
    for _ in range(options.epochs):
        for loader in (dense, sparse):
            for _ in loader:
                pass
    print(json.dumps({"calls": [[*names, calls] for names, calls in counted.items()], "cold_s": cold.spent_s}))


if __name__ == "__main__":
    main()
