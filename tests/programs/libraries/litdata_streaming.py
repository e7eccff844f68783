"""LitData: chunks that were optimized before, streamed."""
import pathlib
import sys

import litdata
import numpy
import torch

import clock
import material


class Photos(litdata.StreamingDataset):
    def augment(self, pixels):
        start = clock.now()
        clock.busy(500)
        pixels = torch.from_numpy(numpy.flip(pixels, 1).copy())
        clock.tell("Photos.augment", start)
        return pixels

    def __getitem__(self, index):
        return self.augment(super().__getitem__(index)["pixels"])


def row(number):
    return {"pixels": numpy.asarray(material.pixels(number))}


def main():
    root = pathlib.Path(sys.argv[1]) / "litdata"
    if not root.exists():
        litdata.optimize(row, list(range(96)), output_dir=str(root), chunk_bytes="4MB", num_workers=1)
    clock.train(litdata.StreamingDataLoader(Photos(str(root)), batch_size=8, num_workers=2))


if __name__ == "__main__":
    main()
