"""In the style of MONAI: a helper function loops for Compose, and another one calls each transform."""
import numpy
import torch

from truth import log, now


def apply_transform(transform, data, unpack_items=False):
    try:
        if unpack_items:
            return transform(*data)
        return transform(data)
    except Exception as error:
        raise RuntimeError(f"applying transform {transform}") from error


def execute_compose(data, transforms, start=0, end=None, unpack_items=False):
    for _transform in transforms[start:end]:
        data = apply_transform(_transform, data, unpack_items)
    return data


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, input_, start=0, end=None):
        return execute_compose(input_, transforms=self.transforms, start=start, end=end)


class EnsureChannelFirst:
    def __call__(self, pixels):
        start = now()
        pixels = numpy.ascontiguousarray(numpy.moveaxis(pixels, -1, 0))
        log(f"op {start} {now()} EnsureChannelFirst")
        return pixels


class ScaleIntensity:
    def __call__(self, pixels):
        start = now()
        low, high = pixels.min(), pixels.max()
        pixels = (pixels.astype(numpy.float32) - low) / max(high - low, 1)
        log(f"op {start} {now()} ScaleIntensity")
        return pixels


class EnsureType:
    def __call__(self, pixels):
        start = now()
        tensor = torch.as_tensor(pixels).clone()
        log(f"op {start} {now()} EnsureType")
        return tensor


def build():
    compose = Compose([EnsureChannelFirst(), ScaleIntensity(), EnsureType()])
    return lambda image: compose(numpy.array(image))
