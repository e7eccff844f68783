"""Hydra: transforms and loader instantiated from a configuration."""
import os
import sys

import hydra.utils
import torch
from omegaconf import OmegaConf
from torchvision import transforms

import clock
import material

clock.watch(transforms.RandomResizedCrop, transforms.Normalize)
CONFIGURATION = """
loader:
  _target_: torch.utils.data.DataLoader
  batch_size: 8
  shuffle: true
  num_workers: 2
  dataset:
    _target_: torchvision.datasets.ImageFolder
    root: ???
    transform:
      _target_: torchvision.transforms.Compose
      transforms:
        - {_target_: torchvision.transforms.RandomResizedCrop, size: 128}
        - {_target_: torchvision.transforms.ToTensor}
        - {_target_: torchvision.transforms.Normalize, mean: [0.5, 0.5, 0.5], std: [0.25, 0.25, 0.25]}
"""


def main():
    torch.manual_seed(1)
    configuration = OmegaConf.create(CONFIGURATION)
    configuration.loader.dataset.root = os.fspath(material.photos(sys.argv[1]))
    clock.train(hydra.utils.instantiate(configuration.loader), lambda batch: len(batch[0]))


if __name__ == "__main__":
    main()
