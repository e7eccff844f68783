"""Datasets that wrap others: Subset, ConcatDataset and random_split."""
import torch
from torch.utils.data import ConcatDataset, DataLoader, Subset, random_split
from torchvision.datasets import ImageFolder

import support
import timed
import truth


def wrapped(dataset, kind):
    if kind == "subset":
        return Subset(dataset, range(1, len(dataset), 2))
    if kind == "concat":
        return ConcatDataset([dataset, Subset(dataset, range(0, len(dataset), 4))])
    half = len(dataset) // 2
    generator = torch.Generator().manual_seed(3)
    return random_split(dataset, [half, len(dataset) - half], generator=generator)[0]


def paths(dataset):
    """The paths of a dataset's samples, in order."""
    if isinstance(dataset, ConcatDataset):
        return [path for part in dataset.datasets for path in paths(part)]
    if isinstance(dataset, Subset):
        inner = paths(dataset.dataset)
        return [inner[index] for index in dataset.indices]
    return [path for path, _ in dataset.samples]


def main():
    options = support.arguments(__doc__, kind="subset")
    dataset = ImageFolder(options.data, transform=timed.imagenet(), loader=timed.loader)
    dataset = wrapped(dataset, options.kind)
    truth.log(("paths", paths(dataset)))
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers,
                        collate_fn=timed.collate)
    for number, (images, targets) in enumerate(truth.watch(loader)):
        support.show(number, [images, targets])


if __name__ == "__main__":
    main()
