"""A dataset that calls its functions one after the other, without Compose."""
import random

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

import support
import timed
import truth
from truth import log, now


def decode(path):
    start = now()
    image = Image.open(path).convert("RGB")
    log(f"op {start} {now()} decode")
    return image


def shrink(image):
    start = now()
    image = image.resize((160, 120), Image.BILINEAR)
    log(f"op {start} {now()} shrink")
    return image


class Photographs(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        start = now()
        image = self.jitter(shrink(decode(self.paths[index])))
        log(f"sample {start} {now()} {index}")
        return image

    def jitter(self, image):
        start = now()
        pixels = numpy.asarray(image, dtype=numpy.float32) * random.uniform(0.9, 1.1)
        tensor = torch.from_numpy(pixels)
        log(f"op {start} {now()} Photographs.jitter")
        return tensor


def main():
    options = support.arguments(__doc__, epochs=2)
    dataset = Photographs(support.photographs(options.data))
    loader = DataLoader(dataset, batch_size=options.batch_size, num_workers=options.workers,
                        collate_fn=timed.collate)
    for epoch in range(options.epochs):
        for number, images in enumerate(truth.watch(loader, epoch=epoch)):
            support.show(number, images, f"epoch {epoch}")


if __name__ == "__main__":
    main()
