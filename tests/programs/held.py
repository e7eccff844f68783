"""Callables held in something else than a list: they are called in turn all the same.

Argument: in what. Prints as JSON how long each of both took in each call, in seconds.
"""
import collections
import json
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from truth import now

SAMPLES = 24


class Timed(torch.nn.Module):
    def forward(self, row):
        start = now()
        while now() - start < self.ns:
            pass
        return row + [(now() - start) / 1e9]


class First(Timed):
    ns = 1_000_000


class Second(Timed):
    ns = 3_000_000


class Sequence:
    """Keeps its list in an attribute."""

    def __init__(self, callables):
        self.kept = list(callables)

    def __iter__(self):
        return iter(self.kept)


class ByIndex:
    """Iterated by a class that knows only how to get one of them."""

    def __init__(self, callables):
        self.kept = tuple(callables)

    def __getitem__(self, index):
        return self.kept[index]

    def __iter__(self):
        for index in range(len(self.kept)):
            yield self[index]


class Runner:
    def __init__(self, held):
        self.held = held

    def __call__(self, row):
        for one in self.held:
            row = one(row)
        return row


class Items(Runner):
    def __call__(self, row):
        for name, one in self.held.items():
            row = one(row)
        return row


class Values(Runner):
    def __call__(self, row):
        for one in self.held.values():
            row = one(row)
        return row


class Children(torch.nn.Sequential):
    def forward(self, row):
        for name, one in self.named_children():
            row = one(row)
        return row


def runner(kind):
    both = First(), Second()
    named = dict(zip(("first", "second"), both))
    return {"userlist": lambda: Runner(collections.UserList(both)), "sequence": lambda: Runner(Sequence(both)),
            "index": lambda: Runner(ByIndex(both)), "items": lambda: Items(named), "values": lambda: Values(named),
            "children": lambda: Children(*both)}[kind]()


class Data(Dataset):
    def __init__(self, kind):
        self.transform = runner(kind)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.transform([])


def main():
    loader = DataLoader(Data(sys.argv[1]), batch_size=4, num_workers=2, collate_fn=list)
    print(json.dumps([sample for batch in loader for sample in batch]))


if __name__ == "__main__":
    main()
