"""Epochs of photographs, then idle until stdin ends, like a notebook's kernel after a cell."""
import sys

from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed


def main():
    options = support.arguments(__doc__, epochs=4)
    loader = DataLoader(ImageFolder(options.data, transform=timed.imagenet()), options.batch_size, num_workers=options.workers)
    for _ in range(options.epochs):
        for _ in loader:
            pass
    sys.stdin.read()


if __name__ == "__main__":
    main()
