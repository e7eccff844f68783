"""Workers copy the pages that they share with their parent, since reading a Python object writes to it."""
import common
import torch
from torch.utils.data import DataLoader, Dataset

COUNT = 1_000_000
READ = 1000  # records of a sample


class Records(Dataset):
    def __init__(self, records):
        self.records = records

    def __len__(self):
        return 9000

    def __getitem__(self, index):
        return torch.tensor(float(self.read(index * READ % COUNT)))

    def read(self, begin):
        return sum(record[0] for record in self.records[begin:begin + READ])


class Numbers(Records):
    def read(self, begin):
        return self.records[begin:begin + READ, 0].sum()


def tuples(bad):
    if bad:
        data = Records([(number + 10_000_000, float(number)) for number in range(COUNT)])
    else:
        data = Numbers(torch.arange(2 * COUNT).reshape(COUNT, 2))
    common.train(DataLoader(data, 32, num_workers=2), step=0.008)


class Names(Records):
    def read(self, begin):
        return sum(map(len, self.records[begin:begin + READ]))


class Joined(Records):
    def read(self, begin):
        return len(self.records[16 * begin:16 * (begin + READ)])


def names(bad):
    made = (f"/data/train/images/{number:012}.jpeg" for number in range(COUNT))
    data = Names(list(made)) if bad else Joined(bytes(16 * COUNT))
    common.train(DataLoader(data, 32, num_workers=2), step=0.008)


if __name__ == "__main__":
    common.main(tuples, names)
