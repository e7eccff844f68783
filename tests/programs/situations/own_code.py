"""The dataset's own code, outside of any operation, is what making a batch takes."""
import os
import random
import tempfile

import common
import torch
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    """Lists its directory for each sample."""

    def __init__(self, directory, once):
        self.directory = directory
        self.files = sorted(os.listdir(directory)) if once else None

    def __len__(self):
        return 240

    def __getitem__(self, index):
        files = self.files or sorted(os.listdir(self.directory))
        return torch.full((8,), float(len(files[index])))


def directory_for_each_sample(bad):
    with tempfile.TemporaryDirectory() as directory:
        for number in range(6000):
            open(f"{directory}/frame_{number:07}.bin", "w").close()
        common.train(DataLoader(Frames(directory, not bad), 8, num_workers=2), step=0.002)


class Drawn(Dataset):
    """Permutes the whole dataset to take one sample of it."""

    def __init__(self, permute):
        self.permute = permute

    def __len__(self):
        return 320

    def __getitem__(self, index):
        if self.permute:
            return torch.randperm(300_000)[:8].clone()
        return torch.randint(300_000, (8,))


def permutation_for_each_sample(bad):
    common.train(DataLoader(Drawn(bad), 8, num_workers=2), step=0.002)


class Sorted(Dataset):
    """Sorts what it has, for each sample."""

    def __init__(self, once):
        self.numbers = [random.Random(7 + number).random() for number in range(30_000)]
        self.once = sorted(self.numbers) if once else None

    def __len__(self):
        return 320

    def __getitem__(self, index):
        numbers = self.once or sorted(self.numbers)
        return torch.tensor(numbers[index])


def sorted_for_each_sample(bad):
    common.train(DataLoader(Sorted(not bad), 8, num_workers=2), step=0.002)


if __name__ == "__main__":
    common.main(directory_for_each_sample, permutation_for_each_sample, sorted_for_each_sample)
