"""Objects that are released while they run: a transform replaces its list, a generator its argument."""
import random

from torch.utils.data import DataLoader, IterableDataset

import work


class Add:
    def __init__(self, number):
        self.number = number

    def __call__(self, value):
        return value + self.number


class Pick:
    """Chooses other operations for each sample, and remembers them."""

    def __init__(self):
        self.chosen = [Add(0)]

    def __call__(self, value):
        self.chosen = [Add(random.randrange(100)) for _ in range(random.randrange(1, 9))]
        kept = [[None] * length for length in range(1, 12)]  # reuses the memory that was just freed
        for operation in self.chosen:
            value = operation(value)
        return value + 0 * len(kept)


class Source:
    def __init__(self, rows):
        self.rows = rows
        self.more = dict.fromkeys(range(40))

    def __iter__(self):
        return iter(range(self.rows))


def decode(row):
    return row + 1


def stream(rows):
    rows = list(rows)
    kept = [{} for _ in range(100)]
    for row in rows:
        yield decode(row) + 0 * len(kept)


class Stream(IterableDataset):
    def __iter__(self):
        return stream(Source(50))


random.seed(1)
pick = Pick()
work.epoch(pick, workers=0, samples=400, name="lists")
work.epoch(pick, workers=2, samples=40, name="in workers", worker_init_fn=random.seed)
for _ in range(10):
    for batch in DataLoader(Stream(), batch_size=10):
        print("generators", *batch)
        work.batches.append(batch)
work.end()
