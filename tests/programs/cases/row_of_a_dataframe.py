"""A row of a DataFrame is selected and converted for each sample.

Sources: yuzhu.run/deep-learning-bottleneck, braindecode#89.
"""
import numpy
import pandas
import torch
from torch.utils.data import DataLoader, Dataset

import common


class Rows(Dataset):
    def __init__(self, path, in_array):
        self.table = pandas.read_pickle(path)
        self.columns = [column for column in self.table if column != "name"]
        self.array = self.table[self.columns].to_numpy(numpy.float32) if in_array else None

    def __len__(self):
        return 8_000

    def __getitem__(self, index):
        if self.array is not None:
            row = self.array[index]
        else:
            row = self.table.iloc[index][self.columns].to_numpy(numpy.float32)
        return torch.from_numpy(row[:-1]), row[-1]


def case(bad, data):
    rows = Rows(data / "table.pkl", in_array=not bad)
    common.train(DataLoader(rows, batch_size=128, num_workers=2, shuffle=True), step=0.005)


if __name__ == "__main__":
    common.main(case)
