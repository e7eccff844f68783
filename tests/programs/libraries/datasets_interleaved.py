"""Hugging Face datasets: two streams with map, interleaved."""
from datasets import Dataset, interleave_datasets
from torch.utils.data import DataLoader

import clock
import material


def tokenize(row):
    start = clock.now()
    clock.busy(400)
    row = {"length": len(row["text"])}
    clock.tell("tokenize", start)
    return row


def main():
    streams = [Dataset.from_dict({"text": material.texts(count)}).to_iterable_dataset(num_shards=2).map(tokenize)
               for count in (96, 96)]
    rows = interleave_datasets(streams).with_format("torch").remove_columns(["text"])
    clock.train(DataLoader(rows, batch_size=8, num_workers=2), lambda batch: len(batch["length"]))


if __name__ == "__main__":
    main()
