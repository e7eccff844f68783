"""Some workers have nothing to do."""
import time

import common
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Shards(IterableDataset):
    def __init__(self, shards, samples):
        self.shards, self.samples = shards, samples

    def __iter__(self):
        info = get_worker_info()
        for _ in range(info.id, self.shards, info.num_workers):
            for _ in range(self.samples // self.shards):
                time.sleep(0.005)
                yield torch.zeros(3, 32, 32)


def fewer_shards_than_workers(bad):
    common.train(DataLoader(Shards(1 if bad else 8, 320), 8, num_workers=4), step=0.004)


class Few(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.zeros(3, 32, 32)


def fewer_batches_than_workers(bad):
    common.train(DataLoader(Few(), 32 if bad else 8, num_workers=6, persistent_workers=True), step=0.004, epochs=8)


if __name__ == "__main__":
    common.main(fewer_shards_than_workers, fewer_batches_than_workers)
