#!/usr/bin/python3
"""Text classification: files of text, a chain of operations in pure Python, sequences of different length.

    LD_PRELOAD=/path/to/liblotus.so examples/text.py [--documents 600] [--workers 2]
    lotus-analyze report
"""
import argparse
import pathlib
import random
import re
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

LONGEST = 256
VOCABULARY = 4096


def make_documents(directory, count):
    """Files of 500 to 5,000 words."""
    words = ["loader", "worker", "batch", "sample", "trace", "frame", "span", "queue", "wait", "epoch"]
    draw = random.Random(0)
    for number in range(count):
        text = " ".join(f"{draw.choice(words)}{draw.randrange(300)}" for _ in range(draw.randrange(500, 5000)))
        (directory / f"{number:04}.txt").write_text(text)


class Tokenize:
    def __call__(self, text):
        return re.findall(r"[a-z]+|\d+", text.lower())


class Encode:
    def __call__(self, tokens):
        return [sum(map(ord, token)) % VOCABULARY for token in tokens]


class Crop:
    def __call__(self, ids):
        start = random.randrange(max(1, len(ids) - LONGEST))
        return ids[start:start + LONGEST]


class Documents(Dataset):
    def __init__(self, directory):
        self.paths = sorted(directory.glob("*.txt"))
        self.operations = [Tokenize(), Encode(), Crop()]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        item = self.paths[index].read_text()
        for operation in self.operations:  # what a Compose does: Lotus sees each of them
            item = operation(item)
        return torch.tensor(item), index % 2


def pad(samples):
    """The collate function."""
    sequences, targets = zip(*samples)
    return nn.utils.rnn.pad_sequence(sequences, batch_first=True), torch.tensor(targets)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        make_documents(pathlib.Path(directory), options.documents)
        loader = DataLoader(Documents(pathlib.Path(directory)), batch_size=16, shuffle=True, num_workers=options.workers,
                            collate_fn=pad)
        model = nn.Sequential(nn.EmbeddingBag(VOCABULARY, 32), nn.Linear(32, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(2):
            for ids, targets in loader:
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(ids), targets)
                loss.backward()
                optimizer.step()
            print(f"epoch {epoch}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
