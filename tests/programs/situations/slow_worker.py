"""Batches come in turn, and one worker is slower than the others."""
import time

import common
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Stream(IterableDataset):
    """Worker 0 reads the slow stream, or each worker a slow part of its own."""

    def __init__(self, one_is_slow):
        self.one_is_slow = one_is_slow

    def __iter__(self):
        worker = get_worker_info().id
        for number in range(120):
            yield self.load(worker == 0 if self.one_is_slow else number % 4 == 0)

    def load(self, slow):
        time.sleep(0.012 if slow else 0.001)
        return torch.zeros(3, 32, 32)


def slow_stream(bad):
    common.train(DataLoader(Stream(bad), 8, num_workers=4), step=0.004)


class Decoded(Dataset):
    """Computes; one worker's samples are larger, or one in four of everybody's."""

    def __init__(self, one_is_slow):
        self.one_is_slow = one_is_slow

    def __len__(self):
        return 360

    def __getitem__(self, index):
        slow = get_worker_info().id == 1 if self.one_is_slow else index % 4 == 0
        time.sleep(0.012 if slow else 0.002)
        return torch.zeros(3, 32, 32)


def slow_part_of_a_dataset(bad):
    common.train(DataLoader(Decoded(bad), 4, num_workers=3), step=0.008)


if __name__ == "__main__":
    common.main(slow_stream, slow_part_of_a_dataset)
