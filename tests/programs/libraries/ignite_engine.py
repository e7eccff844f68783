"""PyTorch-Ignite: an engine that goes through a loader."""
import sys

import torch
from ignite.engine import Engine
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

import clock
import material

clock.watch(transforms.RandomResizedCrop, transforms.Normalize)


def main():
    torch.manual_seed(1)
    transform = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor(),
                                    transforms.Normalize([0.5] * 3, [0.25] * 3)])
    sizes = []

    def step(engine, batch):
        sizes.append(len(batch[0]))
        clock.busy(300)

    Engine(step).run(DataLoader(datasets.ImageFolder(material.photos(sys.argv[1]), transform), batch_size=8, num_workers=2),
                     max_epochs=2)
    clock.ends(len(sizes), sum(sizes))


if __name__ == "__main__":
    main()
