import bisect
import itertools


class Dataset:
    """Answers dataset[index]."""

    def __getitem__(self, index):
        raise NotImplementedError("a dataset needs __getitem__()")


class IterableDataset(Dataset):
    """Answers iter(dataset)."""

    def __iter__(self):
        raise NotImplementedError("an iterable dataset needs __iter__()")


class Subset(Dataset):
    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx):
        return self.dataset[self.indices[idx]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    def __init__(self, datasets):
        self.datasets = list(datasets)
        self.cumulative_sizes = list(itertools.accumulate(len(part) for part in self.datasets))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        place = bisect.bisect_right(self.cumulative_sizes, idx)
        before = self.cumulative_sizes[place - 1] if place > 0 else 0
        return self.datasets[place][idx - before]
