#!/usr/bin/python3
"""Trains an image classifier on an ImageFolder tree: an ordinary PyTorch script.

    tools/train.py DATA [--epochs N] [--workers N] [--batch-size N] [--arch resnet18] [--size 224]
"""
import argparse

import torch
import torchvision.transforms as T
from torch import nn
from torch.utils.data import DataLoader
from torchvision import models
from torchvision.datasets import ImageFolder


def parse_arguments():
    parser = argparse.ArgumentParser(description="Trains an image classifier on an ImageFolder tree.")
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--arch", default="resnet18", help="a model of torchvision (default: resnet18)")
    parser.add_argument("--size", type=int, default=224, help="pixels that images are cropped to (default: 224)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dataset = ImageFolder(options.data, T.Compose([
        T.RandomResizedCrop(options.size),
        T.RandomHorizontalFlip(),
        T.ToTensor(),
        T.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ]))
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers)
    model = getattr(models, options.arch)(num_classes=len(dataset.classes)).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(options.epochs):
        total = 0.0
        for images, targets in loader:
            optimizer.zero_grad()
            loss = criterion(model(images.to(device)), targets.to(device))
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.3f}", flush=True)


if __name__ == "__main__":
    main()
