"""A runner that works itself between its operations, as albumentations' checks boxes, and one that does not.

Argument: which. Prints as JSON how long the runner's own work took in each sample, in seconds.
"""
import json
import sys

from torch.utils.data import DataLoader, Dataset

from truth import now

SAMPLES = 32


def work(ns):
    start = now()
    while now() - start < ns:
        pass
    return (now() - start) / 1e9


class First:
    def __call__(self, row):
        work(1_000_000)
        return row


class Second(First):
    pass


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, row):
        for transform in self.transforms:
            row = transform(row)
        return row


class Checking(Compose):
    def __call__(self, row):
        for transform in self.transforms:
            row = self.check(transform(row))
        return row

    def check(self, row):
        return row + [work(2_000_000)]


class Data(Dataset):
    def __init__(self, runner):
        self.transform = runner([First(), Second()])

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.transform([])


def main():
    runner = {"checking": Checking, "plain": Compose}[sys.argv[1]]
    loader = DataLoader(Data(runner), batch_size=4, num_workers=2, collate_fn=list)
    print(json.dumps([sum(row) for batch in loader for row in batch]))


if __name__ == "__main__":
    main()
