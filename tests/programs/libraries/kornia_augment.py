"""kornia: augmentations of tensors, in the dataset."""
import sys

import kornia.augmentation as K
import numpy
import PIL.Image
import torch
from torch.utils.data import DataLoader, Dataset

import clock
import material

clock.watch(K.RandomAffine, K.ColorJitter)


class Photos(Dataset):
    def __init__(self, files):
        self.files = files
        self.augment = K.AugmentationSequential(K.RandomAffine(10.0, p=1.0), K.ColorJitter(0.1, 0.1, 0.1, 0.1, p=1.0),
                                                data_keys=["input"])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        pixels = numpy.asarray(PIL.Image.open(self.files[index]).resize((96, 96)))
        image = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].float() / 255
        return self.augment(image)[0]


def main():
    torch.manual_seed(1)
    clock.train(DataLoader(Photos(material.files(sys.argv[1])), batch_size=8, num_workers=2))


if __name__ == "__main__":
    main()
