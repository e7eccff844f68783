"""Workers take long to start, in each epoch."""
import time

import common
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Records(Dataset):
    """A large index, which spawned workers get by pickling."""

    def __init__(self):
        self.index = [{"id": number, "path": f"/data/{number}.npy", "box": (number, 1, 2)} for number in range(40_000)]

    def __len__(self):
        return 160

    def __getitem__(self, index):
        return torch.full((3, 32, 32), float(self.index[index]["id"]))


def spawned(bad):
    loader = DataLoader(Records(), 16, num_workers=2, multiprocessing_context="spawn", persistent_workers=not bad)
    common.train(loader, step=0.03, epochs=3 if bad else 6)


class Quick(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.zeros(64)


def load_index(_):
    time.sleep(0.4)


def slow_init(bad):
    loader = DataLoader(Quick(), 16, num_workers=2, worker_init_fn=load_index, persistent_workers=not bad)
    common.train(loader, step=0.012, epochs=4)


class Lazy(Quick):
    """Opens its database at the first sample."""

    database = None

    def __getitem__(self, index):
        if self.database is None:
            self.database = self.open_database()
        return super().__getitem__(index)

    def open_database(self):
        time.sleep(0.4)
        return get_worker_info().id


def lazy_open(bad):
    common.train(DataLoader(Lazy(), 16, num_workers=2, persistent_workers=not bad), step=0.012, epochs=4)


def made_for_each_epoch(bad):
    """The loader is made anew, so that its workers cannot live on."""
    def make():
        return DataLoader(Quick(), 16, num_workers=2, worker_init_fn=load_index, persistent_workers=True)

    common.train(make if bad else make(), step=0.012, epochs=4)


if __name__ == "__main__":
    common.main(spawned, slow_init, lazy_open, made_for_each_epoch)
