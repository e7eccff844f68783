"""Deep Lake: a data set as PyTorch's."""
import pathlib
import sys

import deeplake
import numpy
from torch.utils.data import DataLoader

import clock
import material


def augment(row):
    start = clock.now()
    clock.busy(500)
    pixels = numpy.flip(row["pixels"], 1).copy()
    clock.tell("augment", start)
    return pixels


def main():
    path = pathlib.Path(sys.argv[1]) / "deeplake"
    if not path.exists():
        data = deeplake.create(str(path))
        data.add_column("pixels", deeplake.types.Array("uint8", shape=[240, 320, 3]))
        data.append({"pixels": [numpy.asarray(material.pixels(number)) for number in range(96)]})
        data.commit()
    rows = deeplake.open_read_only(str(path)).pytorch(transform=augment)
    clock.train(DataLoader(rows, batch_size=8, num_workers=2))


if __name__ == "__main__":
    main()
