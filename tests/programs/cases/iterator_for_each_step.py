"""Each step of training calls next(iter(loader)), which starts all workers for one batch.

Sources: pytorch#68383 (in a comment), disent#49.
"""
import time

import torch
from torch.utils.data import DataLoader, Dataset

import common


class Views(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.zeros(3, 32, 32)


def case(bad, _):
    loader = DataLoader(Views(), batch_size=16, num_workers=4, shuffle=True)
    batches = None if bad else iter(loader)
    common.train((next(batches or iter(loader)) for _ in range(60)), step=0.02)


if __name__ == "__main__":
    common.main(case)
