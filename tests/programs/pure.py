"""A pipeline in pure Python on text files, which runs with the stand-in for PyTorch on any interpreter."""
import argparse
import functools
import hashlib
import pathlib
import random
import time

from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

import truth
from runners.plain import Compose
from truth import log, now


class Mix:
    """A class with __call__."""

    def __call__(self, data):
        start = now()
        for _ in range(40):
            data = data[1:] + data[:1]
        log(f"op {start} {now()} Mix")
        return data


class Rotate(nn.Module):
    """A module."""

    def forward(self, data):
        start = now()
        data = bytes((byte + 13) & 127 for byte in data)
        log(f"op {start} {now()} Rotate")
        return data


class Twice(nn.Sequential):
    """A runner inside a runner."""

    def forward(self, data):
        start = now()
        data = super().forward(data)
        log(f"op {start} {now()} Twice")
        return data


def reverse(data, times):
    """Called through functools.partial."""
    start = now()
    for _ in range(times):
        data = data[::-1]
    log(f"op {start} {now()} reverse")
    return data


def count(data):
    """A function."""
    start = now()
    letters = sorted(set(data), key=data.count)
    log(f"op {start} {now()} count")
    return data + bytes(letters)


def shuffle(data):
    start = now()
    data = bytearray(data)
    random.shuffle(data)
    log(f"op {start} {now()} shuffle")
    return bytes(data)


def load(path):
    start = now()
    with open(path, "rb") as file:
        data = file.read()
    del file  # closing the file is part of the timed work
    log(f"load {start} {now()} {path}")
    return data


def collate(samples):
    start = now()
    batch = list(samples)
    log(f"op {start} {now()} Collation")
    return batch


class Folder(Dataset):
    """Opens files as torchvision's DatasetFolder does."""

    def __init__(self, paths, loader, transform):
        self.samples = [(path, 0) for path in paths]
        self.loader = loader
        self.transform = transform

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        path, target = self.samples[index]
        sample = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        return sample, target


class Uneven(Folder):
    """A folder in which worker 0 is slow."""

    def __getitem__(self, index):
        info = get_worker_info()
        time.sleep(0.02 if info is None or info.id == 0 else 0.001)
        truth.warm_up()
        return super().__getitem__(index)


class Plain(Folder):
    """A folder that calls its functions itself, without Compose."""

    def __getitem__(self, index):
        return shuffle(count(load(self.samples[index][0])))


class Stream(IterableDataset):
    def __init__(self, paths, loader, transform):
        self.paths = paths
        self.loader = loader
        self.transform = transform

    def __iter__(self):
        info = get_worker_info()
        paths = self.paths if info is None else self.paths[info.id::info.num_workers]
        for path in paths:
            yield self.transform(self.loader(path))


KINDS = {"folder": Folder, "uneven": Uneven, "plain": Plain, "stream": Stream}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--truth")
    parser.add_argument("--kind", choices=sorted(KINDS), default="folder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--start-method", default="fork")
    parser.add_argument("--pin-memory", action="store_true")
    parser.add_argument("--persistent", action="store_true")
    parser.add_argument("--any-order", action="store_true")
    options = parser.parse_args()
    truth.start(options.truth)
    random.seed(11)
    transform = Compose([Mix(), Rotate(), functools.partial(reverse, times=9), count, Twice(Rotate(), Mix())])
    paths = sorted(str(path) for path in pathlib.Path(options.data).glob("*.txt"))
    truth.log(("paths", paths))
    loader = DataLoader(KINDS[options.kind](paths, load, transform), batch_size=4, num_workers=options.workers,
                        shuffle=options.kind != "stream", collate_fn=collate, pin_memory=options.pin_memory,
                        persistent_workers=options.persistent, in_order=not options.any_order,
                        multiprocessing_context=options.start_method)
    for epoch in range(options.epochs):
        digests = [hashlib.sha256(repr(batch).encode()).hexdigest()[:16]
                   for batch in truth.watch(loader, epoch=epoch)]
        print(epoch, *(sorted(digests) if options.any_order else digests), flush=True)


if __name__ == "__main__":
    main()
