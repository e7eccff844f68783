"""One worker's stream of an iterable dataset is slow, and batches are taken from the workers in turn.

Sources: pytorch#135409, pytorch#105203.
"""
import time

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

import common


class Stream(IterableDataset):
    def __init__(self, one_slow):
        self.one_slow = one_slow

    def __iter__(self):
        worker = get_worker_info().id
        for number in range(160):
            yield self.load(slow=worker == 0 if self.one_slow else number % 4 == 0)

    def load(self, slow):
        time.sleep(0.02 if slow else 0.002)
        return torch.zeros(3, 64, 64)


def case(bad, _):
    loader = DataLoader(Stream(one_slow=bad), batch_size=8, num_workers=4)
    for _ in range(3):
        common.train(loader, step=0.004)


if __name__ == "__main__":
    common.main(case)
