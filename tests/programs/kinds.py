"""Transforms of every kind that Python can call, also nested ones.

A lambda and what is written in C cannot time themselves: the operations before and after them do, and what
lies between is theirs.
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

finished = 0  # when the last operation that times itself ended


def done(name, start):
    global finished
    finished = now()
    log(f"op {start} {finished} {name}")


def between(name):
    start = now()
    log(f"op {finished} {start} {name}")
    return start


class Shrink:
    """A class with __call__."""

    def __call__(self, image):
        start = now()
        image = image.resize((200, 150))
        done("Shrink", start)
        return image


def gamma(pixels, power=0.8):
    """A function, which comes after numpy.asarray."""
    start = between("asarray")
    pixels = (pixels.astype(numpy.float32) / 255) ** power
    done("gamma", start)
    return pixels


class Blur(nn.Module):
    """A module, which comes after torch.from_numpy."""

    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool2d(5, stride=1, padding=2)

    def forward(self, pixels):
        start = between("from_numpy")
        pixels = self.pool(pixels.permute(2, 0, 1))
        done("Blur", start)
        return pixels


def tile(pixels, times):
    """A function called through functools.partial, which comes after a lambda."""
    start = between("lambda")
    pixels = pixels.repeat(times, 2, 2)
    done("tile", start)
    return pixels


class Shift(nn.Module):
    """Called by the nested runners."""

    def forward(self, pixels):
        start = now()
        pixels = torch.roll(pixels, random.randrange(20), 2)
        done("Shift", start)
        return pixels


class Scale(nn.Module):
    def forward(self, pixels):
        start = now()
        pixels = pixels * 0.5
        done("Scale", start)
        return pixels


class RandomApply(T.RandomApply):
    def forward(self, pixels):
        start = between("sigmoid")
        pixels = super().forward(pixels)
        done("RandomApply", start)
        return pixels


class RandomChoice(T.RandomChoice):
    def __call__(self, pixels):
        start = now()
        pixels = super().__call__(pixels)
        done("RandomChoice", start)
        return pixels


class Sequential(nn.Sequential):
    def forward(self, pixels):
        start = now()
        pixels = super().forward(pixels)
        done("Sequential", start)
        return pixels


def transform():
    return T.Compose([
        Shrink(),
        numpy.asarray,
        gamma,
        torch.from_numpy,
        Blur(),
        lambda pixels: pixels.sqrt().exp().tanh(),
        functools.partial(tile, times=1),
        torch.Tensor.sigmoid,
        RandomApply([Shift(), Scale()], p=0.5),
        RandomChoice([Shift(), Scale()]),
        Sequential(Shift(), Scale()),
    ])


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
