"""Too few workers."""
import time

import common
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Fetched(Dataset):
    """All its parts take about as long."""

    def __init__(self, seconds, count=160):
        self.seconds, self.count = seconds, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.third(self.second(self.first()))

    def first(self):
        time.sleep(self.seconds / 3)
        return torch.zeros(3, 32, 32)

    def second(self, sample):
        time.sleep(self.seconds / 3)
        return sample

    def third(self, sample):
        time.sleep(self.seconds / 3)
        return sample


def one_worker(bad):
    common.train(DataLoader(Fetched(0.012), 4, num_workers=1 if bad else 4), step=0.015)


def no_workers(bad):
    common.train(DataLoader(Fetched(0.008), 4, num_workers=0 if bad else 3), step=0.015)


class Stream(IterableDataset):
    """A slow stream of which each worker reads its own part."""

    def __iter__(self):
        info = get_worker_info()
        for _ in range(info.id, 160, info.num_workers):
            time.sleep(0.01)
            yield torch.zeros(3, 32, 32)


def slow_stream(bad):
    common.train(DataLoader(Stream(), 4, num_workers=1 if bad else 4), step=0.012)


def validation_without_workers(bad):
    """Validation, inside of training's loop, makes its batches itself."""
    training = common.Training()
    validation = DataLoader(Fetched(0.009, 32), 4, num_workers=0 if bad else 5, persistent_workers=not bad)
    for number, batch in enumerate(DataLoader(Fetched(0.003), 4, num_workers=2)):
        training.step(batch, 0.01)
        if number % 10 == 9:
            for held_out in validation:
                training.step(held_out, 0.01)
    training.end()


if __name__ == "__main__":
    common.main(one_worker, no_workers, slow_stream, validation_without_workers)
