"""Makes batches whose operations call small Python functions often, seldom, and in ways that differ; prints how often.

The truth is counted: each operation says how many calls of Python functions it makes for a sample, its own included.
"""
import copy
import json
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from compose import Compose

SAMPLES = 8


def plain(x):
    return x


class Often:
    calls = 1 + 20_000

    def __call__(self, x):
        for i in range(20_000):
            plain(i)
        return x


class Method:
    calls = 1 + 5_000

    def __call__(self, x):
        for i in range(5_000):
            self.helper(i)
        return x

    def helper(self, i):
        return i


class Copies:
    """copy.deepcopy() of a list calls deepcopy() for each element and for itself, and three helpers for the list."""
    data = [float(i) for i in range(3_000)]
    calls = None  # of the standard library: depends on its version

    def __call__(self, x):
        copy.deepcopy(self.data)
        return x


class Seldom:
    calls = 1

    def __call__(self, x):
        return x + sum(range(20_000)) * 0


class Data(Dataset):
    def __init__(self):
        self.transform = Compose([Often(), Method(), Copies(), Seldom()])

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        return self.transform(torch.zeros(4))


def main():
    for _ in DataLoader(Data(), batch_size=2, num_workers=int(sys.argv[1])):
        pass
    print(json.dumps({"samples": SAMPLES, "calls": {type(t).__name__: t.calls for t in Data().transform.transforms},
                      "at_least": {"Copies": len(Copies.data)}}))


if __name__ == "__main__":
    main()
