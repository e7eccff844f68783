"""Iterates over loaders whose samplers take their time; prints what each took, in seconds, as it measured itself.

    samplers.py KIND WORKERS

KIND: `lazy`, a sampler that waits for each sample; `eager`, a sampler of batches that makes all of them in its
__iter__, which PyTorch calls twice for workers' first epoch. Two epochs.
"""
import json
import sys
import time

from torch.utils.data import DataLoader, Dataset

BATCHES, SIZE = 6, 2
spent = {"first": 0.0, "later": 0.0, "batches": 0}


def rest(seconds, part):
    begin = time.perf_counter()
    time.sleep(seconds)
    spent[part] += time.perf_counter() - begin


class Numbers(Dataset):
    def __len__(self):
        return BATCHES * SIZE

    def __getitem__(self, index):
        return index


class Lazy:
    def __len__(self):
        return BATCHES * SIZE

    def __iter__(self):
        for index in range(len(self)):
            rest(0.05, "first" if index < SIZE else "later")
            yield index


class Eager:
    def __len__(self):
        return BATCHES

    def __iter__(self):
        rest(0.3, "first")
        return iter([[SIZE * batch, SIZE * batch + 1] for batch in range(BATCHES)])


def main():
    kind, workers = sys.argv[1], int(sys.argv[2])
    how = {"batch_sampler": Eager()} if kind == "eager" else {"sampler": Lazy(), "batch_size": SIZE}
    loader = DataLoader(Numbers(), num_workers=workers, **how)
    for _ in range(2):
        for _ in loader:
            spent["batches"] += 1
    print(json.dumps(spent))


main()
