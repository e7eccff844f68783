"""Collections of garbage, in workers with many objects."""
import gc

import common
import torch
from torch.utils.data import DataLoader, Dataset


class Documents(Dataset):
    def __init__(self, collect_each):
        self.collect_each = collect_each
        self.index = [{"id": number, "words": [number, number + 1]} for number in range(150_000)]

    def __len__(self):
        return 320

    def __getitem__(self, index):
        if index % self.collect_each == 0:
            gc.collect()
        return torch.tensor([record["id"] for record in self.index[index * 400:index * 400 + 400]])


def freeze(_):
    gc.freeze()


def big_heap(bad):
    common.train(DataLoader(Documents(4), 8, num_workers=2, worker_init_fn=None if bad else freeze), step=0.002)


def for_each_sample(bad):
    """In the training process, without workers."""
    common.train(DataLoader(Documents(4 if bad else 320), 8), step=0.002)


class Parsed(Dataset):
    """Each sample makes many containers that live for a while, so Python collects by itself, over all that there is."""

    def __init__(self):
        self.index = [{"id": number, "words": [number, number + 1]} for number in range(150_000)]

    def __len__(self):
        return 480

    def __getitem__(self, index):
        kept = [[number] for number in range(30_000)]
        return torch.tensor([record["id"] for record in self.index[index * 300:index * 300 + 300]] + [len(kept)])


def collect_often(_):
    gc.set_threshold(700, 2, 2)


def disabled(_):
    gc.disable()


def by_itself(bad):
    common.train(DataLoader(Parsed(), 8, num_workers=2, worker_init_fn=collect_often if bad else disabled), step=0.002)


def collated(batch):
    gc.collect()
    return torch.stack(batch)


def in_collate(bad):
    data = Documents(320)
    common.train(DataLoader(data, 8, num_workers=2, collate_fn=collated if bad else None), step=0.002)


if __name__ == "__main__":
    common.main(big_heap, for_each_sample, in_collate, by_itself)
