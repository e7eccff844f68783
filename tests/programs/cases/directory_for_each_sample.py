"""A dataset of videos lists and sorts the directory of all frames for each sample.

Source: xtuner#1327.
"""
import os

import torch
from torch.utils.data import DataLoader, Dataset

import common


class Frames(Dataset):
    def __init__(self, directory, once):
        self.directory = directory
        self.names = sorted(os.listdir(directory)) if once else None

    def __len__(self):
        return 400

    def __getitem__(self, index):
        names = self.names or sorted(os.listdir(self.directory))
        return torch.stack([self.frame(name) for name in names[index * 40:index * 40 + 8]])

    def frame(self, name):
        return torch.frombuffer(bytearray((self.directory / name).read_bytes()), dtype=torch.uint8)


def case(bad, data):
    loader = DataLoader(Frames(data / "frames", once=not bad), batch_size=8, num_workers=2, shuffle=True)
    common.train(loader, step=0.005)


if __name__ == "__main__":
    common.main(case)
