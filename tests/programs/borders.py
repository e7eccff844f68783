"""What a library calls for the program, or for itself in another library, deep inside its own code.

Argument: how it is called. Prints as JSON how long each call took, in seconds.
"""
import json
import pathlib
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from truth import now

sys.path.append(str(pathlib.Path(__file__).with_name("stacks") / "site-packages"))
import augmenter  # noqa: E402
import pictures  # noqa: E402
import rowstream  # noqa: E402

SAMPLES = 48


def tokenize(row):
    start = now()
    while now() - start < 1_000_000:
        pass
    return {"spent": (now() - start) / 1e9}


class Step(torch.nn.Module):
    def forward(self, row):
        return tokenize(row)


class Augmented(Dataset):
    def __init__(self):
        self.augment = augmenter.Container(only=Step())

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.augment({"number": index})


def dataset(kind):
    if kind == "modules":
        return Augmented()
    if kind == "decoded":
        return pictures.Album([bytes([number]) for number in range(SAMPLES)])
    rows = rowstream.Stream([{"number": number} for number in range(SAMPLES)]).map(tokenize)
    return rows if kind == "streamed" else rows.ahead()


def main():
    loader = DataLoader(dataset(sys.argv[1]), batch_size=4, num_workers=2, collate_fn=list)
    spent = [row["spent"] if isinstance(row, dict) else row[1] for batch in loader for row in batch]
    print(json.dumps(spent))


if __name__ == "__main__":
    main()
