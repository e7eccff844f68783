"""MosaicML streaming: shards that were written before, streamed."""
import pathlib
import sys

import numpy
import streaming
import torch

import clock
import material


class Photos(streaming.StreamingDataset):
    def augment(self, row):
        start = clock.now()
        clock.busy(500)
        pixels = torch.from_numpy(numpy.flip(row["pixels"], 1).copy())
        clock.tell("Photos.augment", start)
        return pixels

    def __getitem__(self, index):
        return self.augment(super().__getitem__(index))


def main():
    streaming.base.util.clean_stale_shared_memory()
    root = pathlib.Path(sys.argv[1]) / "mosaicml"
    if not root.exists():
        with streaming.MDSWriter(out=str(root), columns={"pixels": "ndarray:uint8:240,320,3"}) as writer:
            for number in range(96):
                writer.write({"pixels": numpy.asarray(material.pixels(number))})
    clock.train(streaming.StreamingDataLoader(Photos(local=str(root), batch_size=8), batch_size=8, num_workers=2))


if __name__ == "__main__":
    main()
