"""albumentations: a detector's augmentations with boxes."""
import sys

import albumentations as A
import cv2
import numpy
import torch
from torch.utils.data import DataLoader, Dataset

import clock
import material

clock.watch(A.HorizontalFlip, A.RandomBrightnessContrast, A.RandomCrop)
BOXES = 60


class Detection(Dataset):
    def __init__(self, files):
        self.files = files
        self.transform = A.Compose([A.RandomCrop(200, 200), A.HorizontalFlip(p=0.5), A.RandomBrightnessContrast(p=0.5)],
                                   bbox_params=A.BboxParams(format="pascal_voc", label_fields=["labels"]), seed=1)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = cv2.imread(str(self.files[index]))
        random = numpy.random.default_rng(index)
        corners = random.uniform(0, 150, (BOXES, 2))
        boxes = numpy.hstack([corners, corners + random.uniform(10, 60, (BOXES, 2))])
        out = self.transform(image=image, bboxes=boxes, labels=list(range(BOXES)))
        return torch.from_numpy(out["image"]), len(out["bboxes"])


def main():
    cv2.setNumThreads(1)
    clock.train(DataLoader(Detection(material.files(sys.argv[1])), batch_size=8, num_workers=2), lambda batch: len(batch[0]))


if __name__ == "__main__":
    main()
