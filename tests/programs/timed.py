"""torchvision's transforms of ImageNet training, a loader and a collate function that time themselves.

The names are those of the originals: a tracer has to see the program as it would be without the clocks.
"""
import torchvision.transforms as T
from torch.utils.data import default_collate
from torchvision.datasets.folder import pil_loader

from truth import log, now


def loader(path):
    start = now()
    image = pil_loader(path)
    log(("op", "Loader", start, now(), path))
    return image


def collate(samples):
    start = now()
    batch = default_collate(samples)
    log(("op", "Collation", start, now()))
    log(("fetched", start, now()))
    return batch


class RandomResizedCrop(T.RandomResizedCrop):
    def forward(self, image):
        start = now()
        image = super().forward(image)
        log(("op", "RandomResizedCrop", start, now()))
        return image


class RandomHorizontalFlip(T.RandomHorizontalFlip):
    def forward(self, image):
        start = now()
        image = super().forward(image)
        log(("op", "RandomHorizontalFlip", start, now()))
        return image


class ToTensor(T.ToTensor):
    def __call__(self, image):
        start = now()
        tensor = super().__call__(image)
        log(("op", "ToTensor", start, now()))
        return tensor


class Normalize(T.Normalize):
    def forward(self, tensor):
        start = now()
        tensor = super().forward(tensor)
        log(("op", "Normalize", start, now()))
        return tensor


def imagenet():
    """The transform of ImageNet training."""
    return T.Compose([
        RandomResizedCrop(224),
        RandomHorizontalFlip(),
        ToTensor(),
        Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ])
