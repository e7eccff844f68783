"""Classes and callables of C among those that a runner calls. Prints as JSON, by name, how long each call took."""
import functools
import json

from torch.utils.data import DataLoader, Dataset

from runners.plain import Compose
from truth import now

SAMPLES = 24


def took(row, name, ms):
    start = now()
    while now() - start < ms * 1_000_000:
        pass
    return [*row, (name, (now() - start) / 1e9)]


class Record:
    def __init__(self, row):
        self.row = took(row, "Record", 2)


class Alone:
    def __init__(self, row):
        self.row = took(row, "Alone", 2)


class FirstThenOthers:
    """The place that calls the first one meets nothing else: from 3.12 on CPython runs a class's __init__ in its loop."""

    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, row):
        row = self.steps[0](row)
        for step in self.steps[1:]:
            row = step(row)
        return row


class Open:
    def __call__(self, record):
        return took(record.row, "Open", 1)


@functools.lru_cache(maxsize=0)
def cached(row):
    return tuple(took(row, "cached", 3))


class Data(Dataset):
    first = FirstThenOthers(Alone, Open())
    transform = Compose([Record, Open(), tuple, cached, sorted])

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.transform(self.first([]))


def main():
    truth = {}
    for batch in DataLoader(Data(), batch_size=4, num_workers=2, collate_fn=list):
        for name, seconds in (call for sample in batch for call in sample):
            truth.setdefault(name, []).append(seconds)
    print(json.dumps(truth))


if __name__ == "__main__":
    main()
