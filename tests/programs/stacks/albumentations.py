"""albumentations' own Compose on arrays that OpenCV read."""
import albumentations
import albumentations.pytorch
import cv2
from torch.utils.data import DataLoader, Dataset

import support
from stacks import timed

OPS = [albumentations.HorizontalFlip, albumentations.RandomBrightnessContrast, albumentations.Normalize]


class Photographs(Dataset):
    def __init__(self, paths):
        self.paths = paths
        flip, brightness, normalize = (timed(op) for op in OPS)
        self.transform = albumentations.Compose([flip(p=1), brightness(p=1), normalize(),
                                                 timed(albumentations.pytorch.ToTensorV2)()], seed=7)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        pixels = cv2.cvtColor(cv2.imread(self.paths[index]), cv2.COLOR_BGR2RGB)
        return self.transform(image=cv2.resize(pixels, (96, 96)))["image"]


def make(options):
    return DataLoader(Photographs(support.photographs(options.data)), batch_size=8, num_workers=options.workers)
