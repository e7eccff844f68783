"""torchdata: StatefulDataLoader, whose state is taken in the middle of an epoch."""
import sys

import torch
from torchdata.stateful_dataloader import StatefulDataLoader
from torchvision import datasets, transforms

import clock
import material

clock.watch(transforms.RandomResizedCrop, transforms.Normalize)


def main():
    torch.manual_seed(1)
    transform = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor(),
                                    transforms.Normalize([0.5] * 3, [0.25] * 3)])
    loader = StatefulDataLoader(datasets.ImageFolder(material.photos(sys.argv[1]), transform), batch_size=8, shuffle=True,
                                num_workers=2)
    batches = samples = 0
    for _ in range(2):
        for images, _ in loader:
            batches += 1
            samples += len(images)
            if batches % 5 == 0:
                loader.state_dict()
            clock.busy(300)
    clock.ends(batches, samples)


if __name__ == "__main__":
    main()
