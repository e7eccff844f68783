"""Rows of tensors that are in memory are fetched one by one, and stacked to a batch again.

Sources: pytorch#106704, pytorch#4959.
"""
import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

import common

BATCH = 1024


def case(bad, _):
    rows = TensorDataset(torch.randn(200_000, 20), torch.randn(200_000, 5))
    if bad:
        loader = DataLoader(rows, batch_size=BATCH, shuffle=True)
    else:
        loader = DataLoader(rows, sampler=BatchSampler(RandomSampler(rows), BATCH, False), batch_size=None)
    for _ in range(3):
        common.train(loader, step=0.001)


if __name__ == "__main__":
    common.main(case)
