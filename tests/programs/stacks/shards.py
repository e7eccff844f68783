"""In the style of WebDataset: tar files as shards, a chain of generators, batches made in the pipeline."""
import io
import pathlib
import random
import tarfile
import tempfile

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

import support
from truth import log, now

SHARDS = 4


def write_shards(paths, directory):
    shards = []
    for number in range(SHARDS):
        shards.append(f"{directory}/{number}.tar")
        with tarfile.open(shards[-1], "w") as shard:
            for path in paths[number::SHARDS]:
                shard.add(path, pathlib.Path(path).name)
    return shards


def split_by_worker(shards):
    info = get_worker_info()
    yield from shards if info is None else shards[info.id::info.num_workers]


def read_shards(shards):
    for path in shards:
        with tarfile.open(path) as shard:
            for member in shard:
                yield {"key": member.name, "jpeg": shard.extractfile(member).read()}


def shuffled(samples, size=8):
    chance, held = random.Random(3), []
    for sample in samples:
        held.append(sample)
        if len(held) == size:
            yield held.pop(chance.randrange(size))
    yield from held


def mapped(samples, function):
    for sample in samples:
        yield function(sample)


def batched(samples, size=8):
    batch = []
    for sample in samples:
        batch.append(sample)
        if len(batch) == size:
            yield torch.stack(batch)
            batch = []


def decode(sample):
    start = now()
    image = Image.open(io.BytesIO(sample["jpeg"])).convert("RGB").resize((64, 64))
    log(f"op {start} {now()} decode")
    return image


def augment(image):
    start = now()
    tensor = torch.from_numpy(numpy.array(image)).float().flip(1) / 255
    log(f"op {start} {now()} augment")
    return tensor


class Pipeline(IterableDataset):
    def __init__(self, shards, stages):
        self.shards, self.stages = shards, stages

    def __iter__(self):
        samples = self.shards
        for stage in self.stages:
            samples = stage(samples)
        return iter(samples)


def make(options):
    shards = write_shards(support.photographs(options.data), tempfile.mkdtemp())
    stages = [split_by_worker, read_shards, shuffled, lambda samples: mapped(samples, decode),
              lambda samples: mapped(samples, augment), batched]
    return DataLoader(Pipeline(shards, stages), batch_size=None, num_workers=options.workers)
