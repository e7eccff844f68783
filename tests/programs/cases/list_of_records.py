"""The dataset's index is a list of millions of Python objects: reading it in a forked worker copies its pages.

Source: pytorch#13246.
"""
import numpy
import torch
from torch.utils.data import DataLoader, Dataset

import common

COUNT = 3_000_000


class Records(Dataset):
    def __init__(self, in_array):
        if in_array:
            self.records = numpy.arange(2 * COUNT, dtype=numpy.int64).reshape(COUNT, 2)
        else:
            self.records = [(number + 10_000_000, float(number)) for number in range(COUNT)]

    def __len__(self):
        return 200_000

    def __getitem__(self, index):
        first = second = 0
        for near in range(8):
            record = self.records[(index * 7919 + near * 499_979) % COUNT]
            first += record[0]
            second += record[1]
        return torch.tensor([float(first), float(second)])


def case(bad, _):
    loader = DataLoader(Records(in_array=not bad), batch_size=1024, num_workers=2, shuffle=True)
    common.train(loader, step=0.001)


if __name__ == "__main__":
    common.main(case)
