#!/usr/bin/python3
"""Image classification: an ImageFolder of JPEGs, torchvision's transforms, a small model.

    LD_PRELOAD=/path/to/liblotus.so examples/images.py [--images 400] [--workers 1]
    lotus-analyze report
"""
import argparse
import pathlib
import tempfile

import torch
import torchvision.transforms as T
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder


def make_images(directory, count):
    """JPEGs of 500x375 in two classes: noise that was enlarged, so that they decode like photographs."""
    for number in range(count):
        path = directory / ("even" if number % 2 == 0 else "odd") / f"{number:04}.jpeg"
        path.parent.mkdir(exist_ok=True)
        Image.effect_noise((50, 38), 80).resize((500, 375), Image.BICUBIC).convert("RGB").save(path, quality=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        make_images(pathlib.Path(directory), options.images)
        dataset = ImageFolder(directory, T.Compose([
            T.RandomResizedCrop(64),
            T.RandomHorizontalFlip(),
            T.ToTensor(),
            T.Normalize(mean=[0.5, 0.5, 0.5], std=[0.25, 0.25, 0.25]),
        ]))
        loader = DataLoader(dataset, batch_size=16, shuffle=True, num_workers=options.workers)
        model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for epoch in range(2):
            for images, targets in loader:
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(images), targets)
                loss.backward()
                optimizer.step()
            print(f"epoch {epoch}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
