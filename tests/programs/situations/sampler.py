"""The sampler works in training's process."""
import random

import common
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, Sampler, SequentialSampler


class Rows(Dataset):
    def __init__(self, count):
        self.rows, self.count = torch.randn(1000, 32), count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.rows[index % 1000]


class Balanced(Sampler):
    """Looks at the balance of all classes anew for each few indices."""

    def __init__(self, count, all_at_once):
        self.weights, self.count, self.all_at_once = torch.rand(300_000), count, all_at_once

    def __len__(self):
        return self.count

    def __iter__(self):
        if self.all_at_once:
            return iter(torch.multinomial(self.weights, self.count, replacement=True).tolist())
        return self.a_few_at_a_time()

    def a_few_at_a_time(self):
        for _ in range(self.count // 64):
            order = torch.sort(self.weights / self.weights.sum())[0]
            yield from torch.multinomial(order, 64, replacement=True).tolist()


def balanced(bad):
    data = Rows(64 * 40)
    common.train(DataLoader(data, 64, num_workers=2, sampler=Balanced(len(data), not bad)), epochs=2)


class Shuffled(Sampler):
    """Shuffles a list of all indices of a large dataset at each epoch's start."""

    def __init__(self, every_epoch):
        self.every_epoch, self.order = every_epoch, list(range(500_000))

    def __len__(self):
        return 640

    def __iter__(self):
        if self.every_epoch:
            random.shuffle(self.order)
        return iter(self.order[:640])


def drawn_at_epochs_start(bad):
    loader = DataLoader(Rows(500_000), 32, num_workers=2, sampler=Shuffled(bad), persistent_workers=True)
    common.train(loader, step=0.01, epochs=4)


class ByLength(BatchSampler):
    """Searches all samples for those of about the same length, for each batch."""

    def __init__(self, count, size, search):
        super().__init__(SequentialSampler(range(count)), size, False)
        self.lengths, self.search = [index * 7919 % 1000 for index in range(60_000)], search

    def __iter__(self):
        for batch in super().__iter__():
            if self.search:
                sorted(range(len(self.lengths)), key=lambda index: abs(self.lengths[index] - batch[0]))
            yield batch


def batches_by_length(bad):
    common.train(DataLoader(Rows(16 * 50), num_workers=2, batch_sampler=ByLength(16 * 50, 16, bad)), step=0.008)


if __name__ == "__main__":
    common.main(balanced, drawn_at_epochs_start, batches_by_length)
