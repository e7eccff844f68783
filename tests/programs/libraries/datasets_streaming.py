"""Hugging Face datasets: a stream with map, in a DataLoader with workers."""
from datasets import Dataset
from torch.utils.data import DataLoader

import clock
import material


def tokenize(row):
    start = clock.now()
    clock.busy(400)
    row = {"ids": [sum(word.encode()) for word in row["text"].split()], "length": len(row["text"])}
    clock.tell("tokenize", start)
    return row


def main():
    rows = Dataset.from_dict({"text": material.texts()}).to_iterable_dataset(num_shards=4)
    rows = rows.map(tokenize, remove_columns=["text"]).with_format("torch")
    clock.train(DataLoader(rows, batch_size=8, num_workers=2), lambda batch: len(batch["ids"]))


if __name__ == "__main__":
    main()
