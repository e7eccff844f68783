"""A small version of MLPerf's U-Net3D segmentation of volumes: NumPy does all the work.

    segment.py --data DIRECTORY

Makes missing volumes in DIRECTORY; an epoch is four of them.
"""
import pathlib

import numpy
from torch.utils.data import DataLoader, Dataset

import support
from runners.plain import Compose

CASES = 4
SHAPE = (1, 64, 128, 128)
PATCH = (64, 64, 64)


class LoadImage:
    def __call__(self, paths):
        return {name: numpy.load(path) for name, path in paths.items()}


class RandBalancedCrop:
    """Crops at random, or around the foreground, which then has to be searched for."""

    def __init__(self, chance):
        self.chance = chance

    def __call__(self, data):
        if self.chance.random() < 0.4:
            places = numpy.argwhere(data["label"][0] > 0)
            centre = places[self.chance.integers(len(places))]
        else:
            centre = self.chance.integers(0, SHAPE[1:])
        corner = [min(max(int(at) - size // 2, 0), whole - size)
                  for at, size, whole in zip(centre, PATCH, SHAPE[1:])]
        cut = (slice(None), *(slice(begin, begin + size) for begin, size in zip(corner, PATCH)))
        return {name: array[cut] for name, array in data.items()}


class RandFlip:
    def __init__(self, chance):
        self.chance = chance

    def __call__(self, data):
        for axis in (1, 2, 3):
            if self.chance.random() < 1 / 3:
                data = {name: numpy.flip(array, axis=axis).copy() for name, array in data.items()}
        return data


class Cast:
    def __call__(self, data):
        return {"image": data["image"].astype(numpy.float32), "label": data["label"].astype(numpy.uint8)}


class RandomBrightnessAugmentation:
    def __init__(self, chance):
        self.chance = chance

    def __call__(self, data):
        return {**data, "image": data["image"] * (1 + self.chance.uniform(-0.3, 0.3))}


class GaussianNoise:
    def __init__(self, chance):
        self.chance = chance

    def __call__(self, data):
        noise = self.chance.normal(0.0, 0.1, size=data["image"].shape)
        return {**data, "image": (data["image"] + noise).astype(numpy.float32)}


class Cases(Dataset):
    def __init__(self, cases, transform):
        self.cases, self.transform = cases, transform

    def __len__(self):
        return len(self.cases)

    def __getitem__(self, index):
        data = self.transform(self.cases[index])
        return data["image"], data["label"]


def volumes(directory):
    """Paths of each case's image and label."""
    chance = numpy.random.default_rng(1)
    cases = []
    for number in range(CASES):
        case = {name: pathlib.Path(directory, f"{name}{number}.npy") for name in ("image", "label")}
        cases.append(case)
        if not case["label"].exists():
            image = chance.normal(size=SHAPE)
            numpy.save(case["image"], image.astype(numpy.float32))
            numpy.save(case["label"], (image > 2).astype(numpy.int16))
    return cases


def main():
    options = support.arguments(__doc__, batch_size=2, epochs=50)
    cases = options.epochs * volumes(options.data)
    chance = numpy.random.default_rng(5)
    transform = Compose([LoadImage(), RandBalancedCrop(chance), RandFlip(chance), Cast(),
                         RandomBrightnessAugmentation(chance), GaussianNoise(chance)])
    loader = DataLoader(Cases(cases, transform), batch_size=options.batch_size, num_workers=options.workers,
                        multiprocessing_context=options.start_method)
    for number, (images, _) in enumerate(loader):
        support.show(number, images)


if __name__ == "__main__":
    main()
