"""An image classifier as in any tutorial, in plain Python: PNG files, operations, a data loader, a logistic model.

For where PyTorch is missing. Knows nothing of Lotus.
"""
import argparse
import math
import pathlib
import random
import struct
import tempfile
import time
import zlib

from plain_loader import DataLoader

WIDTH, HEIGHT, CROP, GRID = 96, 72, 48, 4
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def make_pictures(directory, count):
    """Colour gradients in two classes, as PNG files whose lines are differences from the line above."""
    draw = random.Random(0)
    for number in range(count):
        ramp = range(WIDTH) if number % 2 else range(WIDTH)[::-1]
        shift = draw.randrange(64)
        line = bytes(shift + column * (channel + 1) // 2 for column in ramp for channel in range(3))
        lines = [b"\2" + line] + [b"\2" + bytes([draw.randrange(2)]) * len(line) for _ in range(HEIGHT - 1)]
        header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
        parts = (b"IHDR", header), (b"IDAT", zlib.compress(b"".join(lines))), (b"IEND", b"")
        (directory / f"{number:04}.png").write_bytes(SIGNATURE + b"".join(chunk(*part) for part in parts))


class Decode:
    """The lines of a PNG file of RGB, whose lines are differences from the line above."""

    def __call__(self, data):
        place, packed = len(SIGNATURE), b""
        while place < len(data):
            length, kind = struct.unpack_from(">I4s", data, place)
            if kind == b"IDAT":
                packed += data[place + 8:place + 8 + length]
            place += length + 12
        plain, stride = zlib.decompress(packed), 1 + 3 * WIDTH
        lines, above = [], bytes(stride - 1)
        for first in range(0, len(plain), stride):
            above = bytes([(one + other) & 255 for one, other in zip(plain[first + 1:first + stride], above)])
            lines.append(above)
        return lines


class RandomCrop:
    def __call__(self, lines):
        top, left = random.randrange(HEIGHT - CROP), 3 * random.randrange(WIDTH - CROP)
        return [line[left:left + 3 * CROP] for line in lines[top:top + CROP]]


class RandomFlip:
    def __call__(self, lines):
        return lines[::-1] if random.random() < 0.5 else lines


class ToFloat:
    def __call__(self, lines):
        return [[byte / 255 for byte in line] for line in lines]


class Normalize:
    def __call__(self, lines):
        values = [value for line in lines for value in line]
        mean = math.fsum(values) / len(values)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)) + 1e-3
        return [[(value - mean) / deviation for value in line] for line in lines]


class Pictures:
    def __init__(self, directory):
        self.paths = sorted(directory.glob("*.png"))
        self.operations = [Decode(), RandomCrop(), RandomFlip(), ToFloat(), Normalize()]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        item = self.paths[index].read_bytes()
        for operation in self.operations:
            item = operation(item)
        return item, index % 2


def collate(samples):
    pictures, classes = zip(*samples)
    return list(pictures), list(classes)


def features(lines):
    """Each colour's mean in the fields of a grid, and a one for the bias."""
    size = CROP // GRID
    fields = [math.fsum(value for line in lines[row * size:(row + 1) * size]
                        for value in line[3 * column * size + channel:3 * (column + 1) * size:3]) / size ** 2
              for row in range(GRID) for column in range(GRID) for channel in range(3)]
    return [*fields, 1.0]


def step(weights, pictures, classes, rate=0.05):
    """One step of logistic regression; returns the mean loss."""
    loss, gradient = 0.0, [0.0] * len(weights)
    for lines, wanted in zip(pictures, classes):
        inputs = features(lines)
        logit = math.fsum(weight * value for weight, value in zip(weights, inputs))
        loss += max(logit, 0) - logit * wanted + math.log1p(math.exp(-abs(logit)))
        error = 1 / (1 + math.exp(-max(-500.0, min(500.0, logit)))) - wanted
        gradient = [sum_ + error * value for sum_, value in zip(gradient, inputs)]
    weights[:] = [weight - rate * sum_ / len(pictures) for weight, sum_ in zip(weights, gradient)]
    return loss / len(pictures)


def train(directory, seconds, workers):
    loader = DataLoader(Pictures(directory), batch_size=16, num_workers=workers, collate_fn=collate)
    weights = [0.0] * (3 * GRID ** 2 + 1)
    begin, epoch = time.monotonic(), 0
    while epoch == 0 or time.monotonic() - begin < seconds:
        for pictures, classes in loader:
            loss = step(weights, pictures, classes)
        print(f"epoch {epoch}: loss {loss:.3f}", flush=True)
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
