"""Pipelines that keep up with training: nothing is to be advised. `fix` is the same program."""
import gc
import io
import multiprocessing
import time

import common
import numpy
import torch
from PIL import Image
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, RandomSampler, TensorDataset

STEP = 0.15  # receiving a batch of one tensor takes 11 ms on a slow machine


class Computed(Dataset):
    def __init__(self, count=200, seconds=0.001):
        self.count, self.seconds = count, seconds

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.work(torch.full((3, 32, 32), float(index)))

    def work(self, sample):
        common.burn(self.seconds)
        return sample


def two_workers(_):
    common.train(DataLoader(Computed(), 8, num_workers=2, shuffle=True), STEP)


def in_the_training_process(_):
    common.train(DataLoader(Computed(seconds=0.0001), 8), STEP)


class Stream(IterableDataset):
    def __iter__(self):
        for _ in range(100):
            time.sleep(0.002)
            yield torch.zeros(3, 32, 32)


def streams(_):
    common.train(DataLoader(Stream(), 8, num_workers=2), STEP)


def weights_trained(_):
    """Training writes to memory that the worker got at its fork, which leaves that alone with it."""
    weights = torch.ones(50_000_000)
    training = common.Training()
    for batch in DataLoader(Computed(320), 8, num_workers=1):
        weights.add_(1)
        training.step(batch, STEP)
    training.end()


def persistent_workers(_):
    common.train(DataLoader(Computed(80), 8, num_workers=2, persistent_workers=True), STEP, epochs=3)


class Photos(Dataset):
    def __init__(self):
        photo = Image.fromarray(numpy.random.default_rng(7).integers(0, 255, (60, 80, 3), dtype=numpy.uint8))
        packed = io.BytesIO()
        photo.resize((320, 240)).save(packed, "JPEG")
        self.packed = packed.getvalue()

    def __len__(self):
        return 200

    def __getitem__(self, index):
        photo = Image.open(io.BytesIO(self.packed)).convert("RGB").resize((64, 64))
        return torch.from_numpy(numpy.array(photo))


def photographs(_):
    common.train(DataLoader(Photos(), 8, num_workers=2), STEP)


def rows_in_whole_batches(_):
    data = TensorDataset(torch.randn(6400, 20))
    sampler = BatchSampler(RandomSampler(data), 256, False)
    common.train(DataLoader(data, sampler=sampler, batch_size=None), STEP)


def training_and_validation(_):
    training = common.Training()
    for _ in range(2):
        for batch in DataLoader(Computed(100), 8, num_workers=2):
            training.step(batch, STEP)
        for batch in DataLoader(Computed(40), 8, num_workers=1):
            training.step(batch, STEP)
    training.end()


def as_arrays(batch):
    return numpy.stack([sample.numpy() for sample in batch])


def small_arrays(_):
    common.train(DataLoader(Computed(), 8, num_workers=2, collate_fn=as_arrays), STEP)


class Guarded(Computed):
    """A lock that is hardly ever waited for, and garbage that is collected now and then."""

    lock = multiprocessing.Lock()

    def __init__(self):
        super().__init__()
        gc.freeze()  # what PyTorch made would else be gone through: half a second on a slow machine

    def __getitem__(self, index):
        with self.lock:
            sample = super().__getitem__(index)
        if index == 100:
            gc.collect()
        return sample


def a_lock_and_some_garbage(_):
    common.train(DataLoader(Guarded(), 8, num_workers=2), STEP)


class Uneven(Computed):
    def work(self, sample):
        time.sleep(0.02 if sample[0, 0, 0] % 40 == 0 else 0.001)
        return sample


def uneven_samples(_):
    common.train(DataLoader(Uneven(), 8, num_workers=2), STEP)


class Sums(Dataset):
    """Each worker has a large index in arrays, and reads all of it."""

    def __init__(self):
        self.index = torch.arange(4_000_000)

    def __len__(self):
        return 200

    def __getitem__(self, index):
        return self.index[index * 20_000:(index + 1) * 20_000].sum()


def large_index_in_a_tensor(_):
    common.train(DataLoader(Sums(), 8, num_workers=2), STEP)


if __name__ == "__main__":
    common.main(two_workers, in_the_training_process, streams, weights_trained, persistent_workers,
                photographs, rows_in_whole_batches, training_and_validation, small_arrays,
                a_lock_and_some_garbage, uneven_samples, large_index_in_a_tensor)
