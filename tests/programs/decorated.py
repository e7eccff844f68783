"""Operations behind decorators: functions that share a wrapper's code, __call__ behind no_grad and contexts.

Prints as JSON, by name, how long each call took, in seconds: half of them are left out in each second sample.
"""
import contextlib
import functools
import json
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from truth import now

SAMPLES = 24


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def unnamed(function):
    def around(*args):
        return function(*args)

    return around


def of_self(function):
    @functools.wraps(function)
    def wrapper(self, *args):
        return function(self, *args)

    return wrapper


@contextlib.contextmanager
def context():
    yield


def took(row, name, ms):
    start = now()
    while now() - start < ms * 1_000_000:
        pass
    row.append((name, (now() - start) / 1e9))
    return row


@logged
def slow(row):
    return took(row, "slow", 3)


@logged
def quick(row):
    return took(row, "quick", 1)


@logged
@logged
def twice(row):
    return took(row, "twice", 1)


def plain(row):
    return took(row, "plain", 2)


class Slow:
    @logged
    def __call__(self, row):
        return took(row, "Slow", 2)


class Quick:
    @logged
    def __call__(self, row):
        return took(row, "Quick", 1)


class OfSelf:
    @of_self
    def __call__(self, row):
        return took(row, "OfSelf", 1)


class NoGrad:
    @getattr(torch, "no_grad", context)()
    def __call__(self, row):
        return took(row, "NoGrad", 1)


class Context:
    @context()
    def __call__(self, row):
        return took(row, "Context", 1)


@getattr(torch, "no_grad", context)()
def no_grad(row):
    return took(row, "no_grad", 2)


class Sometimes:
    """Calls some, so that what is called is not what comes next in the list."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, row, index):
        for number, transform in enumerate(self.transforms):
            if index % 2 == 0 or number % 2 == 1:
                row = transform(row)
        return row


OPERATIONS = [slow, quick, twice, unnamed(plain), Slow(), Quick(), OfSelf(), NoGrad(), Context(), no_grad]


class InTurn(Dataset):
    transform = Sometimes(OPERATIONS)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.transform([], index)


class Called(Dataset):
    """Without a runner."""

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return no_grad(slow(quick([])))


def main():
    dataset = {"list": InTurn, "called": Called}[sys.argv[1]]()
    truth = {}
    for batch in DataLoader(dataset, batch_size=4, num_workers=2, collate_fn=list):
        for sample in batch:
            for name, seconds in sample:
                truth.setdefault(name, []).append(seconds)
    print(json.dumps(truth))


if __name__ == "__main__":
    main()
