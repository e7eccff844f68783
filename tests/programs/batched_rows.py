"""A dataset that makes a batch in one call, by a __getitem__ that takes all of its keys, as Hugging Face's does.

Argument: `rows`, `wrapped` (in another dataset), or `each` (a helper method that asks for the samples one by one).
Prints as JSON what training got, and how many calls the dataset made for it.
"""
import json
import sys
import time

from torch.utils.data import DataLoader, Dataset

ROWS, BATCH, SECONDS = 204, 8, 0.01


class Rows(Dataset):
    def __len__(self):
        return ROWS

    def __getitem__(self, key):
        time.sleep(SECONDS)
        return {"row": [float(one) for one in key]} if isinstance(key, list) else {"row": float(key)}

    def __getitems__(self, keys):
        return [{"row": row} for row in self.__getitem__(keys)["row"]]


class Each(Rows):
    def __getitems__(self, keys):
        return self.gather(keys)

    def gather(self, keys):
        return [self[key] for key in keys]


class Wrapped(Dataset):
    def __init__(self):
        self.dataset = Rows()

    def __len__(self):
        return len(self.dataset)

    def __getitems__(self, keys):
        return self.dataset.__getitems__([ROWS - 1 - key for key in keys])


def main():
    dataset = {"rows": Rows, "wrapped": Wrapped, "each": Each}[sys.argv[1]]()
    batches = [len(batch["row"]) for batch in DataLoader(dataset, batch_size=BATCH, num_workers=2)]
    print(json.dumps({"batches": batches, "samples": sum(batches)}))


if __name__ == "__main__":
    main()
