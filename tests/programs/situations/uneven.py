"""Workers are enough on average, and batches come unevenly."""
import time

import common
import torch
from torch.utils.data import DataLoader, Dataset


class Uneven(Dataset):
    """One batch in `every` takes long."""

    def __init__(self, every, long, short):
        self.every, self.long, self.short = every, long, short

    def __len__(self):
        return 4 * 90

    def __getitem__(self, index):
        time.sleep(self.long if index // 4 % self.every == 0 else self.short)
        return torch.zeros(64)


def long_videos(bad):
    """Queues as long as four batches lie behind one that takes as long as twenty."""
    data = Uneven(15, 0.08, 0.002) if bad else Uneven(1, 0.006, 0.006)
    common.train(DataLoader(data, 4, num_workers=2), step=0.02)


def bursts(bad):
    """Many workers whose queue is one batch long."""
    data = Uneven(10, 0.06, 0.001)
    common.train(DataLoader(data, 4, num_workers=3, prefetch_factor=1 if bad else 12), step=0.018)


if __name__ == "__main__":
    common.main(long_videos, bursts)
