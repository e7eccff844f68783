"""Requests pinned memory on a machine without a GPU: PyTorch warns and goes on.

--pretend 1: makes PyTorch believe that there is a GPU, so that its pin thread runs; pinning then only copies.
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
