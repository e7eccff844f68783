"""timm's own dataset, transform and loader, as its training script puts them together."""
import timm.data
from timm.data.transforms import MaybeToTensor, RandomResizedCropAndInterpolation
from torchvision import transforms

from stacks import timed

OPS = {MaybeToTensor: "__call__", RandomResizedCropAndInterpolation: "__call__",
       transforms.RandomHorizontalFlip: "forward", transforms.ColorJitter: "forward", transforms.Normalize: "forward"}


def make(options):
    dataset = timm.data.create_dataset("", root=options.data, is_training=True)
    loader = timm.data.create_loader(dataset, input_size=(3, 96, 96), batch_size=8, is_training=True,
                                     num_workers=options.workers, use_prefetcher=False, color_jitter=0.4,
                                     auto_augment=None, persistent_workers=False)
    for transform in dataset.transform.transforms:  # made by timm's configuration
        method = OPS.get(type(transform))
        if method is not None:
            transform.__class__ = timed(type(transform), method)
    return loader
