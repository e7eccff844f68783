"""Squirrel: a stream of items that is mapped and batched."""
import torch
from squirrel.iterstream import IterableSource
from torch.utils.data import DataLoader

import clock


def load(number):
    start = clock.now()
    clock.busy(500)
    row = torch.full((64,), float(number))
    clock.tell("load", start)
    return row


def main():
    rows = IterableSource(range(192)).split_by_worker_pytorch().map(load).batched(8, collation_fn=torch.stack).to_torch_iterable()
    clock.train(DataLoader(rows, batch_size=None, num_workers=2))


if __name__ == "__main__":
    main()
