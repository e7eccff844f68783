"""An image classifier as in any tutorial: files, operations, a DataLoader, a small network.

Knows nothing of Lotus.
"""
import argparse
import pathlib
import random
import tempfile
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WIDTH, HEIGHT, CROP = 320, 240, 128


def make_pictures(directory, count):
    """Colour gradients in two classes, as binary PPM files: they need no library."""
    draw = random.Random(0)
    for number in range(count):
        shift, slope = draw.randrange(256), 1 + number % 2
        row = bytes((shift + slope * column * (channel + 1)) % 256
                    for column in range(WIDTH) for channel in range(3))
        with open(directory / f"{number:04}.ppm", "wb") as file:
            file.write(b"P6 %d %d 255\n" % (WIDTH, HEIGHT))
            for line in range(HEIGHT):
                file.write(row[3 * (line % 64):] + row[:3 * (line % 64)])


class Decode:
    def __call__(self, data):
        pixels = data[data.index(b"\n") + 1:]
        return torch.frombuffer(bytearray(pixels), dtype=torch.uint8).view(HEIGHT, WIDTH, 3).permute(2, 0, 1)


class ToFloat:
    def __call__(self, picture):
        return picture.to(torch.float32) / 255


class RandomCrop:
    def __call__(self, picture):
        top, left = random.randrange(HEIGHT - CROP), random.randrange(WIDTH - CROP)
        return picture[:, top:top + CROP, left:left + CROP]


class Blur:
    def __call__(self, picture):
        kernel = torch.ones(3, 1, 5, 5) / 25
        return nn.functional.conv2d(picture[None], kernel, padding=2, groups=3)[0]


class Normalize:
    def __call__(self, picture):
        return (picture - picture.mean()) / (picture.std() + 1e-3)


class Pictures(Dataset):
    def __init__(self, directory):
        self.paths = sorted(directory.glob("*.ppm"))
        self.operations = [Decode(), ToFloat(), Blur(), RandomCrop(), Normalize()]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        item = self.paths[index].read_bytes()
        for operation in self.operations:
            item = operation(item)
        return item, index % 2


def train(directory, seconds, workers):
    loader = DataLoader(Pictures(directory), batch_size=16, shuffle=True, num_workers=workers)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    begin, epoch = time.monotonic(), 0
    while epoch == 0 or time.monotonic() - begin < seconds:
        for pictures, classes in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(pictures), classes)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}", flush=True)
        epoch += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        make_pictures(pathlib.Path(directory), options.pictures)
        train(pathlib.Path(directory), options.seconds, options.workers)


if __name__ == "__main__":
    main()
