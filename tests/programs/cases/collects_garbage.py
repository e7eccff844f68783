"""Workers collect garbage every few samples, and look at all objects of a big index each time.

Sources: Megatron-Energon#40 (gc.freeze), nanochat#477.
"""
import gc
import json

import torch
from torch.utils.data import DataLoader, Dataset

import common

COUNT = 400_000


class Documents(Dataset):
    def __init__(self):
        self.index = [{"id": number, "words": [number, number + 1], "tag": (number,)} for number in range(COUNT)]

    def __len__(self):
        return 640

    def __getitem__(self, index):
        first = index * 500
        lengths = torch.tensor([len(json.dumps(self.index[(first + near) % COUNT])) for near in range(300)])
        if index % 8 == 0:
            gc.collect()
        return lengths


def freeze(_):
    gc.freeze()


def case(bad, _):
    init = None if bad else freeze
    loader = DataLoader(Documents(), batch_size=16, num_workers=2, worker_init_fn=init)
    common.train(loader, step=0.005)


if __name__ == "__main__":
    common.main(case)
