"""Transforms that are called by a runner other than torchvision's Compose."""
import importlib

from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed
import truth


def main():
    options = support.arguments(__doc__, style="torchvision_v2")
    transform = importlib.import_module(f"runners.{options.style}").build()
    dataset = ImageFolder(options.data, transform=transform, loader=timed.loader)
    truth.log(("paths", [path for path, _ in dataset.samples]))
    loader = DataLoader(dataset, batch_size=options.batch_size, num_workers=options.workers,
                        collate_fn=timed.collate)
    for number, (images, targets) in enumerate(truth.watch(loader)):
        support.show(number, [images, targets])


if __name__ == "__main__":
    main()
