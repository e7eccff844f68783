"""Each worker loads an index in worker_init_fn, for each epoch anew.

Source: webdataset#267.
"""
import time

import torch
from torch.utils.data import DataLoader, Dataset

import common


class Indexed(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.zeros(64)


def load_index(_):
    time.sleep(1)


def case(bad, _):
    loader = DataLoader(Indexed(), batch_size=16, num_workers=2, worker_init_fn=load_index,
                        persistent_workers=not bad)
    for _ in range(4):
        common.train(loader, step=0.01)


if __name__ == "__main__":
    common.main(case)
