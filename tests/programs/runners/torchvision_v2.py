"""In the style of torchvision.transforms.v2: Compose and transforms are modules."""
from torch import nn

import timed


class Compose(nn.Module):
    def __init__(self, transforms):
        super().__init__()
        self.transforms = transforms

    def forward(self, *inputs):
        needs_unpacking = len(inputs) > 1
        for transform in self.transforms:
            outputs = transform(*inputs)
            inputs = outputs if needs_unpacking else (outputs,)
        return outputs


class Transform(timed.Module):
    """The base class: forward() splits its inputs and calls transform() for each."""

    def forward(self, *inputs):
        outputs = [self.transform(item) for item in inputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


class Resize(Transform):
    def transform(self, image):
        return image.resize((180, 180))


class Invert(Transform):
    def transform(self, image):
        return image.point([255 - v for v in range(256)] * 3)


def build():
    return Compose([Resize(), Invert(), timed.ToTensor()])
