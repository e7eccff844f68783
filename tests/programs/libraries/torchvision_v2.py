"""torchvision: ImageFolder with transforms v2, as its examples train."""
import sys

import torch
from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision.transforms import v2

import clock
import material

clock.watch(v2.RandomResizedCrop, v2.RandomHorizontalFlip, v2.Normalize)


def main():
    torch.manual_seed(1)
    transform = v2.Compose([v2.ToImage(), v2.RandomResizedCrop(128, antialias=True), v2.RandomHorizontalFlip(),
                            v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.25] * 3)])
    data = datasets.ImageFolder(material.photos(sys.argv[1]), transform)
    clock.train(DataLoader(data, batch_size=8, shuffle=True, num_workers=2), lambda batch: len(batch[0]))


if __name__ == "__main__":
    main()
