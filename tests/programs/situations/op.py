"""One operation is what making a batch takes."""
import copy
import io

import common
import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


class Annotated(Dataset):
    """Copies its annotations for each sample, deeply or not."""

    def __init__(self, deep):
        self.copy = copy.deepcopy if deep else copy.copy
        self.records = [{"boxes": [{"box": [1., 2., 3., 4.], "outline": [[0.5] * 30]} for _ in range(30)]}
                        for _ in range(50)]

    def __len__(self):
        return 3200

    def __getitem__(self, index):
        record = self.copy(self.records[index % 50])
        return torch.tensor([box["box"] for box in record["boxes"]])


def deep_copies(bad):
    common.train(DataLoader(Annotated(bad), 16, num_workers=2), step=0.004)


class Compose:
    def __init__(self, *transforms):
        self.transforms = transforms

    def __call__(self, sample):
        for transform in self.transforms:
            sample = transform(sample)
        return sample


class Distort:
    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, sample):
        common.burn(self.seconds)
        return sample


class Flip:
    def __call__(self, sample):
        return sample.flip(0)


class Transformed(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 480

    def __getitem__(self, index):
        return self.transform(torch.zeros(3, 32, 32))


def slow_transform(bad):
    transform = Compose(Flip(), Distort(0.004 if bad else 0), Flip())
    common.train(DataLoader(Transformed(transform), 8, num_workers=2), step=0.004)


class Resized(Dataset):
    """Photographs that are much larger than needed."""

    def __init__(self, size):
        photo = Image.fromarray(numpy.random.default_rng(7).integers(0, 255, (60, 80, 3), dtype=numpy.uint8))
        packed = io.BytesIO()
        photo.resize(size, Image.BICUBIC).save(packed, "JPEG")
        self.packed = packed.getvalue()

    def __len__(self):
        return 256

    def __getitem__(self, index):
        return self.to_tensor(self.decode())

    def decode(self):
        return Image.open(io.BytesIO(self.packed)).convert("RGB").resize((64, 64))

    def to_tensor(self, photo):
        return torch.from_numpy(numpy.array(photo))


def large_photographs(bad):
    common.train(DataLoader(Resized((1600, 1200) if bad else (80, 60)), 8, num_workers=2), step=0.01)


class Table(Dataset):
    """A row is found by looking through a column."""

    def __init__(self, search):
        self.keys, self.search = [f"row {number}" for number in range(40_000)], search

    def __len__(self):
        return 480

    def __getitem__(self, index):
        return torch.tensor(self.row(index * 80))

    def row(self, key):
        return self.keys.index(f"row {key}") if self.search else key


def search_for_each_sample(bad):
    common.train(DataLoader(Table(bad), 16, num_workers=0), step=0.002)


if __name__ == "__main__":
    common.main(deep_copies, slow_transform, large_photographs, search_for_each_sample)
