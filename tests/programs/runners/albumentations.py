"""In the style of albumentations: keyword arguments, and a base class that calls apply()."""
import random

import numpy
import torch

from truth import log, now


class BasicTransform:
    def __init__(self, p=1.0):
        self.p = p

    def __call__(self, *args, force_apply=False, **kwargs):
        start = now()
        if force_apply or random.random() < self.p:
            kwargs = self.apply_with_params({}, **kwargs)
        log(f"op {start} {now()} {type(self).__name__}")
        return kwargs

    def apply_with_params(self, params, **kwargs):
        return {key: self.apply(value, **params) for key, value in kwargs.items()}


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, *args, force_apply=False, **data):
        for t in self.transforms:
            data = t(**data)
        return data


class Transpose(BasicTransform):
    def apply(self, image, **params):
        return numpy.ascontiguousarray(image.transpose(1, 0, 2))


class Brightness(BasicTransform):
    def apply(self, image, **params):
        return numpy.clip(image * 1.2, 0, 255)


class ToTensorV2(BasicTransform):
    def apply(self, image, **params):
        return torch.from_numpy(image).float()


def build():
    compose = Compose([Transpose(p=1), Brightness(p=0.5), ToTensorV2()])
    return lambda image: compose(image=numpy.array(image))["image"]
