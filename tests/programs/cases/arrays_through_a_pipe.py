"""Batches are NumPy arrays: they are pickled, written to a pipe, and unpickled in the training process.

Sources: pytorch#3830, pytorch#24984.
"""
import numpy
import torch
from torch.utils.data import DataLoader, Dataset

import common


class Volumes(Dataset):
    def __init__(self):
        self.volume = numpy.random.default_rng(7).random((1, 96, 96, 96), numpy.float32)

    def __len__(self):
        return 240

    def __getitem__(self, index):
        return self.volume + numpy.float32(index)


def to_arrays(samples):
    return {"image": numpy.stack(samples), "label": numpy.stack(samples) > 1}


def to_tensors(samples):
    images = torch.stack([torch.from_numpy(sample) for sample in samples])
    return {"image": images, "label": images > 1}


def case(bad, _):
    collate = to_arrays if bad else to_tensors
    loader = DataLoader(Volumes(), batch_size=8, num_workers=2, collate_fn=collate)
    for _ in range(2):
        common.train(loader, step=0.01)


if __name__ == "__main__":
    common.main(case)
