"""BlockDrop: a flat ResNet for images of 32 × 32; a policy says from the image which of its blocks are worth running."""
import torch
from torch import nn
from torch.nn import functional

import pinning
import program

SIZES = {"paper": {"channels": 16, "pixels": 32, "blocks": 15},
         "small": {"channels": 16, "pixels": 16, "blocks": 15}}
PINNED = True
CLASSES = 10


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.more = outputs - inputs
        self.stride = 2 if self.more else 1
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, self.stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))

    def shortcut(self, x):
        """What is left of the block when it is skipped: fewer pixels, and channels of zeros, where it has more of them."""
        if self.stride == 1:
            return x
        return functional.pad(functional.avg_pool2d(x, 2), (0, 0, 0, 0, 0, self.more))

    def forward(self, x):
        return torch.relu(self.shortcut(x) + self.body(x))


class ResNet(nn.Module):
    """The network that skips nothing."""

    def __init__(self, channels, blocks):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(inplace=True))
        widths = [channels << 3 * block // blocks for block in range(blocks)]
        self.blocks = nn.ModuleList([Block(before, width) for before, width in zip([channels, *widths], widths)])
        self.classes = nn.Linear(widths[-1], CLASSES)

    def forward(self, images):
        x = self.stem(images)
        for block in self.blocks:
            x = block(x)
        return self.classes(x.mean((2, 3)))


class Policy(nn.Module):
    """The probability that each block is worth running, from the image, coarsely."""

    def __init__(self, blocks):
        super().__init__()
        self.decide = nn.Linear(3 * 4 * 4, blocks)

    def forward(self, images):
        return torch.sigmoid(self.decide(functional.adaptive_avg_pool2d(images, 4).flatten(1)))


class BlockDrop(ResNet):
    def __init__(self, channels, blocks):
        super().__init__(channels, blocks)
        self.policy = Policy(blocks)

    def forward(self, images, pin):
        """pin: see pinning.py. Returns the classes' scores and the policy, as training needs both."""
        policy = self.policy(images)
        x = self.stem(images)
        for i, block in enumerate(self.blocks):
            if torch.sum(policy[:, i] + pin[i]) > 0:
                x = block(x)
            else:
                x = block.shortcut(x)
        return self.classes(x.mean((2, 3))), policy


def make(options, channels, pixels, blocks):
    images = torch.randn(options.batch, 3, pixels, pixels)
    if options.no_skip:
        return ResNet(channels, blocks), (images,)
    return BlockDrop(channels, blocks), (images, pinning.pin(options.rate, blocks))


if __name__ == "__main__":
    program.main()
