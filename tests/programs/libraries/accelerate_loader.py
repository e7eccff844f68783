"""Accelerate: a prepared loader and model."""
import sys

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

import clock
import material

clock.watch(transforms.RandomResizedCrop, transforms.Normalize)


def main():
    torch.manual_seed(1)
    transform = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor(),
                                    transforms.Normalize([0.5] * 3, [0.25] * 3)])
    data = datasets.ImageFolder(material.photos(sys.argv[1]), transform)
    loader = Accelerator(cpu=True).prepare(DataLoader(data, batch_size=8, shuffle=True, num_workers=2))
    clock.train(loader, lambda batch: len(batch[0]))


if __name__ == "__main__":
    main()
