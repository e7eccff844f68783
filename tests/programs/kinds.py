"""Transforms of every kind that Python can call, also nested ones.

The outer ones are timed from outside, because lambdas and C functions cannot time themselves.
"""
import functools
import random

import numpy
import torch
import torchvision.transforms as T
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed
import truth
from truth import log, now


class Compose(T.Compose):
    def __init__(self, transforms):
        super().__init__(list(transforms.values()))
        self.names = list(transforms)

    def __call__(self, image):
        for name, transform in zip(self.names, self.transforms):
            start = now()
            result = transform(image)
            log(f"op {start} {now()} {name}")
            image = result  # frees the input, which is not part of the operation
        return image


class Shrink:
    """A class with __call__."""

    def __call__(self, image):
        return image.resize((200, 150))


def gamma(pixels, power=0.8):
    """A function."""
    return (pixels.astype(numpy.float32) / 255) ** power


class Blur(nn.Module):
    """A module."""

    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool2d(5, stride=1, padding=2)

    def forward(self, pixels):
        return self.pool(pixels.permute(2, 0, 1))


def tile(pixels, times):
    """Called through functools.partial."""
    return pixels.repeat(times, 2, 2)


class Shift(timed.Module):
    """Called by the nested runners, as is Scale."""

    def forward(self, pixels):
        return torch.roll(pixels, random.randrange(20), 2)


class Scale(timed.Module):
    def forward(self, pixels):
        return pixels * 0.5


def transform():
    return Compose({
        "Shrink": Shrink(),
        "asarray": numpy.asarray,
        "gamma": gamma,
        "from_numpy": torch.from_numpy,
        "Blur": Blur(),
        "lambda": lambda pixels: pixels.sqrt().exp().tanh(),
        "tile": functools.partial(tile, times=1),
        "sigmoid": torch.Tensor.sigmoid,
        "RandomApply": T.RandomApply([Shift(), Scale()], p=0.5),
        "RandomChoice": T.RandomChoice([Shift(), Scale()]),
        "Sequential": nn.Sequential(Shift(), Scale()),
    })


def main():
    options = support.arguments(__doc__)
    dataset = ImageFolder(options.data, transform=transform(), loader=timed.loader)
    truth.log(("paths", [path for path, _ in dataset.samples]))
    loader = DataLoader(dataset, batch_size=options.batch_size, num_workers=options.workers,
                        collate_fn=timed.collate)
    for number, (images, targets) in enumerate(truth.watch(loader)):
        support.show(number, [images, targets])


if __name__ == "__main__":
    main()
