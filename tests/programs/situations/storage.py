"""What opens the files waits for them."""
import time

import common
import torch
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    """As torchvision's: `loader` opens a file."""

    def __init__(self, loader):
        self.loader, self.path = loader, __file__

    def __len__(self):
        return 240

    def __getitem__(self, index):
        return self.scaled(self.loader(self.path))

    def scaled(self, sample):
        time.sleep(0.001)
        return sample / 2


def read(path):
    with open(path, "rb") as file:
        return torch.zeros(3, 32, 32) + len(file.read())


def read_slowly(path):
    time.sleep(0.02)
    return read(path)


def files_far_away(bad):
    common.train(DataLoader(Files(read_slowly if bad else read), 4, num_workers=2), step=0.012)


def read_in_parts(path):
    with open(path, "rb") as file:
        for _ in range(8):
            time.sleep(0.002)
            file.read(10)
    return torch.zeros(3, 32, 32)


def many_small_reads(bad):
    common.train(DataLoader(Files(read_in_parts if bad else read), 4, num_workers=3), step=0.012)


if __name__ == "__main__":
    common.main(files_far_away, many_small_reads)
