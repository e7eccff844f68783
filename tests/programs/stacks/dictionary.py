"""In the style of MONAI's dictionary transforms: each takes a dictionary and works on some of its keys."""
import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

import support
from truth import log, now


class MapTransform:
    def __init__(self, keys):
        self.keys = keys

    def __call__(self, data):
        start = now()
        data = {**data, **{key: self.apply(data[key]) for key in self.keys}}
        log(f"op {start} {now()} {type(self).__name__}")
        return data


class LoadImaged(MapTransform):
    def apply(self, path):
        return numpy.array(Image.open(path).convert("RGB").resize((64, 64)))


class ScaleIntensityd(MapTransform):
    def apply(self, pixels):
        return pixels.astype(numpy.float32) / 255


class RandFlipd(MapTransform):
    def apply(self, pixels):
        return numpy.ascontiguousarray(pixels[::-1])


class ToTensord(MapTransform):
    def apply(self, pixels):
        return torch.from_numpy(pixels)


def apply_transform(transform, data):
    return transform(data)


def execute_compose(data, transforms):
    for _transform in transforms:
        data = apply_transform(_transform, data)
    return data


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, data):
        return execute_compose(data, self.transforms)


class Cases(Dataset):
    def __init__(self, data, transform):
        self.data, self.transform = data, transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.transform(self.data[index])


def make(options):
    paths = support.photographs(options.data)
    data = [{"image": path, "label": other} for path, other in zip(paths, reversed(paths))]
    both = ["image", "label"]
    transform = Compose([LoadImaged(both), ScaleIntensityd(["image"]), RandFlipd(both), ToTensord(both)])
    return DataLoader(Cases(data, transform), batch_size=8, num_workers=options.workers)
