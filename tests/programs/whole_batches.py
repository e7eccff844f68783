"""Loaders without a batch size, whose datasets make whole batches.

Argument: `iterable` or `images` (a subclass of Tensor with a __torch_function__ that must not be called for the
trace's sake), which give images and labels; `texts`, whose parts do not say how long they are; `keys`, a dataset
that is given the keys of a batch; `one`, one that is given one; `list`, a list, whose
batches are no calls of Python's at all, though the loader has a batch size. Prints as JSON the samples of each batch.
"""
import json
import sys

import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, SequentialSampler

SIZES = [16] * 39 + [5]
calls = 0


class Image(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        global calls
        calls += 1
        return super().__torch_function__(function, types, args, kwargs)


class Batches(IterableDataset):
    def __init__(self, kind):
        self.kind = kind

    def __iter__(self):
        for size in SIZES:
            images = torch.zeros(size, 3, 8, 8)
            if self.kind == "images":
                images = images.as_subclass(Image)
            before = calls
            if self.kind == "texts":
                yield [f"text {i}" for i in range(size)], list(range(size))
            else:
                yield images, torch.arange(size)
            assert calls == before or self.kind != "images", "the trace called __torch_function__"


class Rows(Dataset):
    def __len__(self):
        return sum(SIZES)

    def __getitem__(self, key):
        return torch.tensor(key).float()


def loader(kind):
    if kind == "list":
        rows = [(torch.zeros(8), number) for number in range(sum(SIZES))]
        return DataLoader(rows, batch_size=SIZES[0], num_workers=2)
    if kind in ("keys", "one"):
        keys = SequentialSampler(range(sum(SIZES)))
        sampler = BatchSampler(keys, SIZES[0], drop_last=False) if kind == "keys" else keys
        return DataLoader(Rows(), sampler=sampler, batch_size=None, num_workers=2)
    return DataLoader(Batches(kind), batch_size=None, collate_fn=lambda batch: batch)


def main():
    kind = sys.argv[1]
    sizes = [1 if kind == "one" else len(batch) if kind == "keys" else len(batch[1]) for batch in loader(kind)]
    print(json.dumps(sizes))


if __name__ == "__main__":
    main()
