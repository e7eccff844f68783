"""Many functions below __getitem__ of which one takes all the time."""
import textwrap
import time

from torch.utils.data import DataLoader, Dataset


def decode(index):
    time.sleep(0.02)
    return float(index)


def check_0(index):
    return index


def check_1(index):
    return index


def check_2(index):
    return index


class Data(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        for check in (check_0, check_1, check_2):
            check(index)
        textwrap.dedent("library")
        return decode(index)


if __name__ == "__main__":
    for batch in DataLoader(Data(), batch_size=4, num_workers=2):
        pass
