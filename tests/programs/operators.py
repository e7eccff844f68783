"""Two loaders: one does little besides PyTorch's operators, the other calls few of them. Prints how many there were."""
import argparse
import collections
import json
import time

import torch
from torch.utils.data import DataLoader, Dataset

from runners.plain import Compose

counted = collections.Counter()  # (operation, operator): calls, by this process


class Dense:
    """As many operators as a sample's index says."""

    def __call__(self, index):
        value = torch.zeros(4)
        for _ in range(index % 40 + 10):
            value = value.add(1)
            counted["Dense", "aten::add"] += 1
        return value


class Even:
    """Always as many."""

    def __call__(self, value):
        for _ in range(25):
            value = value.mul(2)
            counted["Even", "aten::mul"] += 1
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
    dense = DataLoader(Samples(2400, Dense(), Even()), batch_size=4, shuffle=True)
    sparse = DataLoader(Samples(48, Sparse()), batch_size=4)
    for _ in range(options.epochs):
        for loader in (dense, sparse):
            for _ in loader:
                pass
    print(json.dumps([[*names, calls] for names, calls in counted.items()]))


if __name__ == "__main__":
    main()
