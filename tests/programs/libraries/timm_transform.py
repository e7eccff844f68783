"""timm: the augmentation that its training script makes."""
import sys

import timm.data
import torch
from timm.data.transforms import RandomResizedCropAndInterpolation
from torch.utils.data import DataLoader

import clock
import material

clock.watch(RandomResizedCropAndInterpolation)


def main():
    torch.manual_seed(1)
    data = timm.data.create_dataset("", str(material.photos(sys.argv[1])))
    data.transform = timm.data.create_transform(128, is_training=True, auto_augment="rand-m9-mstd0.5")
    clock.train(DataLoader(data, batch_size=8, num_workers=2), lambda batch: len(batch[0]))


if __name__ == "__main__":
    main()
