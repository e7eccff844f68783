"""An iterator is made, with all its workers, for a batch or two."""
import common
import torch
from torch.utils.data import DataLoader, Dataset


class Views(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        return torch.zeros(3, 32, 32)


def views():
    return DataLoader(Views(), 16, num_workers=2, shuffle=True)


def next_of_iter(bad):
    training, loader = common.Training(), views()
    batches = iter(loader)
    for _ in range(30):
        training.step(next(iter(loader)) if bad else next(batches), 0.02)
    training.end()


def left_after_two(bad):
    training, loader = common.Training(), views()
    for _ in range(20 if bad else 1):
        for number, batch in enumerate(loader):
            training.step(batch, 0.015)
            if number == (1 if bad else 39):
                break
    training.end()


def loader_for_each_step(bad):
    training, loader = common.Training(), iter(views())
    for _ in range(30):
        training.step(next(iter(views())) if bad else next(loader), 0.02)
    training.end()


if __name__ == "__main__":
    common.main(next_of_iter, left_after_two, loader_for_each_step)
