"""Spawned workers import everything and unpickle the dataset, for each epoch anew.

Sources: pytorch#103117, ms-swift#10016, olmoearth_pretrain#150.
"""
import pandas  # noqa: F401  (workers import it, too)
import torch
from torch.utils.data import DataLoader, Dataset

import common


class Records(Dataset):
    def __init__(self):
        self.index = [{"id": number, "path": f"/data/{number}.npy", "label": number % 10,
                       "box": (number, number + 1, 3, 4)} for number in range(60_000)]

    def __len__(self):
        return 640

    def __getitem__(self, index):
        return torch.full((3, 64, 64), float(self.index[index]["label"]))


def case(bad, _):
    loader = DataLoader(Records(), batch_size=32, num_workers=2, multiprocessing_context="spawn",
                        persistent_workers=not bad)
    for _ in range(3):
        common.train(loader, step=0.01)


if __name__ == "__main__":
    common.main(case)
