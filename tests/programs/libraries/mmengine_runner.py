"""MMEngine: its dataset with a pipeline of transforms."""
import numpy
import torch
from mmengine.dataset import BaseDataset, pseudo_collate
from torch.utils.data import DataLoader

import clock
import material


class Load:
    def __call__(self, row):
        start = clock.now()
        row["pixels"] = numpy.asarray(material.pixels(row["number"]))
        clock.tell("Load", start)
        return row


class Flip:
    def __call__(self, row):
        start = clock.now()
        row["pixels"] = torch.from_numpy(numpy.flip(row["pixels"], 1).copy())
        clock.tell("Flip", start)
        return row


class Photos(BaseDataset):
    def load_data_list(self):
        return [{"number": number} for number in range(96)]


def main():
    data = Photos(pipeline=[Load(), Flip()])
    clock.train(DataLoader(data, batch_size=8, num_workers=2, collate_fn=pseudo_collate), lambda batch: len(batch["pixels"]))


if __name__ == "__main__":
    main()
