"""A dataset of computed tensors and operations that time themselves; needs nothing but PyTorch."""
import torch
from torch.utils.data import Dataset, default_collate

from runners.plain import Compose
from truth import log, now


def collate(samples):
    start = now()
    batch = default_collate(samples)
    log(f"op {start} {now()} Collation")
    return batch


class Draw:
    """Makes a tensor that depends only on the index."""

    def __call__(self, index):
        start = now()
        generator = torch.Generator().manual_seed(index)
        sample = torch.rand(64, 64, generator=generator)
        log(f"op {start} {now()} Draw")
        return sample


class Smooth:
    def __call__(self, sample):
        start = now()
        for _ in range(20):
            sample = (sample + sample.roll(1, 0) + sample.roll(1, 1)) / 3
        log(f"op {start} {now()} Smooth")
        return sample


class Square:
    def __call__(self, sample):
        start = now()
        sample = sample * sample
        log(f"op {start} {now()} Square")
        return sample


class Tensors(Dataset):
    """`before(index)` runs before each sample; keys of samples begin with `name`."""

    def __init__(self, length=32, name="", before=None):
        self.length, self.name, self.before = length, name, before
        self.transform = Compose([Draw(), Smooth(), Square()])

    @property
    def keys(self):
        return [f"{self.name}{index}" for index in range(self.length)]

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        start = now()
        if self.before is not None:
            self.before(index)
        sample = self.transform(index)
        log(f"sample {start} {now()} {self.name}{index}")
        return sample, index
