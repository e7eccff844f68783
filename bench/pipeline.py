"""An ImageNet-style input pipeline and nothing else, which bench/overhead runs with and without liblotus."""
import argparse

import torch
import torchvision.transforms as T
from torch.utils.data import DataLoader, RandomSampler
from torchvision.datasets import ImageFolder


def photographs(data):
    """An ImageFolder tree with the usual transforms for training on ImageNet."""
    return ImageFolder(data, T.Compose([
        T.RandomResizedCrop(224),
        T.RandomHorizontalFlip(),
        T.ToTensor(),
        T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="an ImageFolder tree")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--photographs", type=int, help="of an epoch: so many drawn from the tree, instead of each once")
    parser.add_argument("--switched-off", action="store_true", help="all of Lotus, before the first epoch, as in bench/parts")
    options = parser.parse_args()
    torch.set_num_threads(1)
    dataset = photographs(options.data)
    drawn = options.photographs is not None
    sampler = RandomSampler(dataset, replacement=drawn, num_samples=options.photographs)
    loader = DataLoader(dataset, batch_size=options.batch_size, sampler=sampler, num_workers=options.workers)
    if options.switched_off:
        from switch import Switch
        next(iter(dataset))  # loads libjpeg
        switch = Switch()
        switch.go_around("libjpeg.so.62", "jpeg_")
        switch.all(False)
    torch.manual_seed(0)
    for _ in range(options.epochs):
        for images, labels in loader:
            pass


if __name__ == "__main__":
    main()
