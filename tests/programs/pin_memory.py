"""Pinned memory asked for on a machine without a GPU: PyTorch warns and goes on.

--pretend 1: PyTorch takes the machine for one with a GPU, and its own pin thread runs; there to pin is to copy.
"""
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed
import truth


def main():
    options = support.arguments(__doc__, pretend=None, persistent=None)
    if options.pretend:
        support.pretend_a_gpu()
    dataset = ImageFolder(options.data, transform=timed.imagenet(), loader=timed.loader)
    truth.log(("paths", [path for path, _ in dataset.samples]))
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers,
                        pin_memory=True, persistent_workers=bool(options.persistent), collate_fn=timed.collate)
    for epoch in range(options.epochs):
        for number, (images, targets) in enumerate(truth.watch(loader, epoch=epoch)):
            support.show(number, [images, targets])


if __name__ == "__main__":
    main()
