"""Many more workers than cores."""
import io
import os

import common
import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

CORES = len(os.sched_getaffinity(0))


class Photos(Dataset):
    def __init__(self):
        photo = Image.fromarray(numpy.random.default_rng(7).integers(0, 255, (60, 80, 3), dtype=numpy.uint8))
        packed = io.BytesIO()
        photo.resize((400, 300)).save(packed, "JPEG")
        self.packed = packed.getvalue()

    def __len__(self):
        return 384

    def __getitem__(self, index):
        photo = Image.open(io.BytesIO(self.packed)).convert("RGB").resize((224, 224))
        return torch.from_numpy(numpy.array(photo)).permute(2, 0, 1).float() / 255


def photographs(bad):
    common.train(DataLoader(Photos(), 8, num_workers=10 * CORES if bad else CORES), step=0.002, epochs=2)


class Computed(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        common.burn(0.008)
        return torch.zeros(64)


def computing(bad):
    common.train(DataLoader(Computed(), 4, num_workers=8 * CORES if bad else CORES), step=0.002)


if __name__ == "__main__":
    common.main(photographs, computing)
