"""Data in memory is fetched row by row."""
import common
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, TensorDataset


def whole_batches(data, size):
    return DataLoader(data, sampler=BatchSampler(RandomSampler(data), size, False), batch_size=None)


def rows_of_tensors(bad):
    data = TensorDataset(torch.randn(120_000, 20), torch.randn(120_000, 5))
    common.train(DataLoader(data, 1024, shuffle=True) if bad else whole_batches(data, 1024), step=0.001)


class Table(Dataset):
    """Rows as dictionaries."""

    def __init__(self, count):
        self.features, self.label = torch.randn(count, 16), torch.zeros(count, dtype=torch.long)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, index):
        return {"features": self.features[index], "label": self.label[index]}


def rows_of_a_table(bad):
    data = Table(60_000)
    loader = DataLoader(data, 512, shuffle=True, num_workers=1) if bad else whole_batches(data, 512)
    common.train(loader, step=0.001)


if __name__ == "__main__":
    common.main(rows_of_tensors, rows_of_a_table)
