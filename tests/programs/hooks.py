"""A pipeline whose native entry points are known: photographs by Pillow, an array by NumPy, a few operators.

It logs them as `native OP NAME CALLS BYTES`, for calls inside the operation including nested ones. `--profile
FILE` writes how often PyTorch's own profiler saw each operator in samples and during collation.
"""
import collections
import contextlib
import json
import os

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, default_collate

import support
import truth

SCOPES = ("sample", "collate", "empty")
scope = contextlib.nullcontext  # opens a scope of one of these names, for the profiler


class Photographs(Dataset):
    """Image, array and tensor of each photograph; logs the calls of native functions."""

    def __init__(self, paths, arrays, webps):
        self.paths, self.arrays, self.webps = paths, arrays, webps

    def __len__(self):
        return len(self.paths)

    def load(self, path):
        image = Image.open(path)
        lines = image.size[1]
        image.decodermaxblock = 1 << 24  # the whole file: libjpeg never suspends within a line
        pixels = image.convert("L").resize((32, 32)).crop((0, 0, 16, 16)).transpose(Image.FLIP_LEFT_RIGHT)
        # Pillow calls jpeg_read_scanlines for each line.
        for name, calls in (("jpeg_read_header", 1), ("jpeg_start_decompress", 1), ("jpeg_read_scanlines", lines),
                            ("jpeg_finish_decompress", 1), ("ImagingCore.convert", 1), ("ImagingCore.resize", 1),
                            ("ImagingCore.crop", 1), ("ImagingCore.transpose", 1)):
            truth.log(f"native Photographs.load {name} {calls} 0")
        return pixels

    def webp(self, path):
        size = Image.open(path).convert("L").size
        truth.log("native Photographs.webp WebPDecode 1 0")
        return size

    def read(self, path):
        descriptor = os.open(path, os.O_RDONLY)
        size = os.fstat(descriptor).st_size
        while block := os.read(descriptor, 1000):
            truth.log(f"native Photographs.read read 1 {len(block)}")
        truth.log("native Photographs.read read 1 0")  # at the end of the file
        assert len(os.pread(descriptor, 7, 3)) == 7
        os.close(descriptor)
        truth.log("native Photographs.read pread 1 7")
        truth.log("native Photographs.read open 1 0")
        return size

    def array(self, path):
        values = numpy.fromfile(path, dtype=numpy.float32)
        truth.log("native Photographs.array fromfile 1 0")
        truth.log(f"native Photographs.array fread 1 {values.nbytes}")
        return values

    def tensor(self, values):
        tensor = torch.from_numpy(values)
        for _ in range(3):
            tensor = torch.add(tensor, 1)
        truth.log("native Photographs.tensor aten::add 3 0")
        return torch.nn.functional.relu(torch.sub(tensor, 2))

    def __getitem__(self, index):
        with scope("sample"):
            image = numpy.asarray(self.load(self.paths[index])).copy()
            size = self.read(self.paths[index])
            self.webp(self.webps[index % len(self.webps)])
            tensor = self.tensor(self.array(self.arrays[index % len(self.arrays)]))
            return torch.from_numpy(image), size, tensor


def collate(samples):
    with scope("collate"):
        return default_collate(samples)


def operators(profile, within):
    """Counts of each operator in the scopes of this name: directly inside them, and at any depth."""
    top, nested = collections.Counter(), collections.Counter()
    waiting = [(event, None) for event in profile.profiler.kineto_results.experimental_event_tree()]
    while waiting:
        event, depth = waiting.pop()
        if event.name in SCOPES:
            depth = 0 if event.name == within else None
        elif depth is not None and not event.name.startswith("profiler::"):
            depth += 1
            nested[event.name] += 1
            top[event.name] += depth == 1
        waiting += [(child, depth) for child in event.children]
    return {"top": +top, "all": nested}


def write_profile(profile, path, scopes):
    """Subtracts the operators that a scope itself runs, as measured with 100 empty scopes."""
    empty = operators(profile, "empty")
    seen = {}
    for within, count in scopes.items():
        seen[within] = operators(profile, within)
        for level, names in seen[within].items():
            names.subtract({name: calls * count // 100 for name, calls in empty[level].items()})
            seen[within][level] = +names
    with open(path, "w") as file:
        json.dump(seen, file)


def main():
    global scope
    options = support.arguments(__doc__, arrays=None, profile=None)
    paths = support.photographs(options.data)
    arrays, webps = [], []
    for number in range(4):
        arrays.append(os.path.join(options.arrays, f"{number}.f32"))
        numpy.arange(1000, dtype=numpy.float32).tofile(arrays[-1])
        webps.append(os.path.join(options.arrays, f"{number}.webp"))
        Image.new("RGB", (64, 48), (number, 0, 99)).save(webps[-1])
    Image.open(paths[0]).load()  # so that Pillow's imports happen here
    loader = DataLoader(Photographs(paths, arrays, webps), batch_size=options.batch_size, num_workers=options.workers,
                        multiprocessing_context=options.start_method, collate_fn=collate)
    with contextlib.ExitStack() as stack:
        if options.profile:
            activities = [torch.profiler.ProfilerActivity.CPU]
            profile = stack.enter_context(torch.profiler.profile(activities=activities))
            scope = torch.profiler.record_function
            for _ in range(100):
                with scope("empty"):
                    pass
        for number, batch in enumerate(loader):
            torch.add(torch.ones(3), 1)  # outside the pipeline: not counted
            support.show(number, batch)
    if options.profile:
        write_profile(profile, options.profile, {"sample": len(paths), "collate": len(loader)})
    truth.flush()


if __name__ == "__main__":
    main()
