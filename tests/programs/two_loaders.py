"""Training and validation at once: a validation batch follows every second training batch."""
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed
import truth


def interleave(training, validation):
    """Yields (name, batch): two of training, then one of validation, until both have ended."""
    sources = [("train", iter(training)), ("train", None), ("validate", iter(validation))]
    sources[1] = sources[0]
    running = {"train", "validate"}
    while running:
        for name, source in sources:
            batch = next(source, None)
            if batch is None:
                running.discard(name)
            else:
                yield name, batch


def main():
    options = support.arguments(__doc__, epochs=2, batch_size=4)
    dataset = ImageFolder(options.data, transform=timed.imagenet(), loader=timed.loader)
    paths = [path for path, _ in dataset.samples]
    even = torch.utils.data.Subset(dataset, range(0, len(dataset), 2))
    truth.log(("paths", paths, "train"))
    truth.log(("paths", paths[::2], "validate"))
    training = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers,
                          collate_fn=timed.collate)
    validation = DataLoader(even, batch_size=2 * options.batch_size, num_workers=1, collate_fn=timed.collate)
    for epoch in range(options.epochs):
        pairs = interleave(truth.watch(training, "train", epoch), truth.watch(validation, "validate", epoch))
        for name, (images, targets) in pairs:
            support.show(name, [images, targets], f"epoch {epoch}")


if __name__ == "__main__":
    main()
