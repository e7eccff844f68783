"""One of the photographs takes far longer to load than the others."""
import os
import time

from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed
import truth


def sluggish(path):
    """Loads an image; slowly if its name contains `slow`, as from a disk that has to spin up."""
    if "slow" in os.path.basename(path):
        time.sleep(2)
    return timed.loader(path)


def main():
    options = support.arguments(__doc__)
    dataset = ImageFolder(options.data, transform=timed.imagenet(), loader=sluggish)
    truth.log(("paths", [path for path, _ in dataset.samples]))
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers,
                        collate_fn=timed.collate)
    for number, (images, targets) in enumerate(truth.watch(loader)):
        support.show(number, [images, targets])


if __name__ == "__main__":
    main()
