"""Grain: a data set with map and batch."""
import sys

import grain
import numpy
import PIL.Image
import torch

import clock
import material


def load(file):
    start = clock.now()
    pixels = numpy.array(PIL.Image.open(file).resize((128, 128)))
    clock.tell("load", start)
    return pixels


def main():
    torch.set_num_threads(1)
    data = grain.MapDataset.source(material.files(sys.argv[1])).shuffle(seed=1).map(load).batch(8)
    batches = samples = 0
    for _ in range(2):
        for batch in data.to_iter_dataset():
            batches += 1
            samples += len(batch)
            clock.busy(300)
    clock.ends(batches, samples)


if __name__ == "__main__":
    main()
