"""torchvision's transforms of ImageNet training, a loader and a collate function that time themselves.

They have the names of the originals, so that the tracer sees the program as without the measurements.
"""
import torchvision.transforms as T
from torch import nn
from torch.utils.data import default_collate
from torchvision.datasets.folder import pil_loader

from truth import log, now


def loader(path):
    start = now()
    image = pil_loader(path)
    log(f"load {start} {now()} {path}")
    return image


def collate(samples):
    start = now()
    batch = default_collate(samples)
    log(f"op {start} {now()} Collation")
    return batch


class RandomResizedCrop(T.RandomResizedCrop):
    def __call__(self, image):
        start = now()
        image = super().__call__(image)
        log(f"op {start} {now()} RandomResizedCrop")
        return image


class RandomHorizontalFlip(T.RandomHorizontalFlip):
    def __call__(self, image):
        start = now()
        image = super().__call__(image)
        log(f"op {start} {now()} RandomHorizontalFlip")
        return image


class ToTensor(T.ToTensor):
    def __call__(self, image):
        start = now()
        tensor = super().__call__(image)
        log(f"op {start} {now()} ToTensor")
        return tensor


class Normalize(T.Normalize):
    def __call__(self, tensor):
        start = now()
        tensor = super().__call__(tensor)
        log(f"op {start} {now()} Normalize")
        return tensor


class Module(nn.Module):
    """A module that times its calls, including PyTorch's part of them."""

    def __call__(self, *inputs):
        start = now()
        outputs = super().__call__(*inputs)
        log(f"op {start} {now()} {type(self).__name__}")
        return outputs


def imagenet():
    """The transform of ImageNet training."""
    return T.Compose([
        RandomResizedCrop(224),
        RandomHorizontalFlip(),
        ToTensor(),
        Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ])
