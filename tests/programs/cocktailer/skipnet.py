"""SkipNet: ResNet-101 with a recurrent gate before each block but the first, which says whether the block runs."""
import torch
from torch import nn

import pinning
import program

SIZES = {"paper": {"channels": 64, "pixels": 224, "groups": (3, 4, 23, 3)},
         "small": {"channels": 4, "pixels": 32, "groups": (3, 4, 23, 3)}}
PINNED = True
BATCHES = (1,)
CLASSES = 1000
EXPANSION = 4    # of a bottleneck's channels
GATE_WIDTH = 10


def convolution(inputs, outputs, kernel, stride=1):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs)]


class Bottleneck(nn.Module):
    def __init__(self, inputs, channels, stride, group):
        super().__init__()
        outputs = EXPANSION * channels
        self.group = group
        self.body = nn.Sequential(*convolution(inputs, channels, 1), nn.ReLU(inplace=True),
                                  *convolution(channels, channels, 3, stride), nn.ReLU(inplace=True),
                                  *convolution(channels, outputs, 1))
        self.shortcut = nn.Identity() if inputs == outputs else nn.Sequential(*convolution(inputs, outputs, 1, stride))

    def forward(self, x):
        return torch.relu(self.shortcut(x) + self.body(x))


class ResNet(nn.Module):
    """The network that skips nothing."""

    def __init__(self, channels, groups):
        super().__init__()
        self.stem = nn.Sequential(*convolution(3, channels, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        blocks, inputs = [], channels
        for group, count in enumerate(groups):
            for place in range(count):
                blocks.append(Bottleneck(inputs, channels << group, 2 if group and not place else 1, group))
                inputs = EXPANSION * channels << group
        self.first = blocks[0]
        self.blocks = nn.ModuleList(blocks[1:])
        self.classes = nn.Linear(inputs, CLASSES)

    def forward(self, images):
        x = self.first(self.stem(images))
        for block in self.blocks:
            x = block(x)
        return self.classes(x.mean((2, 3)))


class Gate(nn.Module):
    """One for all blocks: it remembers what it has seen of the blocks before."""

    def __init__(self, channels, groups):
        super().__init__()
        self.see = nn.ModuleList([nn.Linear(EXPANSION * channels << group, GATE_WIDTH) for group in range(groups)])
        self.cell = nn.LSTMCell(GATE_WIDTH, GATE_WIDTH)
        self.decide = nn.Linear(GATE_WIDTH, 1)

    def forward(self, x, group, state):
        state = self.cell(torch.relu(self.see[group](x.mean((2, 3)))), state)
        return torch.sigmoid(self.decide(state[0])), state


class SkipNet(ResNet):
    def __init__(self, channels, groups):
        super().__init__(channels, groups)
        self.gate = Gate(channels, len(groups))

    def forward(self, images, pin):
        """pin: see pinning.py. Returns the classes' scores and the gates' outputs, as training needs both."""
        x = self.first(self.stem(images))
        state = (x.new_zeros(x.shape[0], GATE_WIDTH), x.new_zeros(x.shape[0], GATE_WIDTH))
        group = self.first.group
        outputs = []
        for i, block in enumerate(self.blocks):
            output, state = self.gate(x, group, state)
            outputs.append(output)
            if torch.sum(output + pin[i]) > 0:
                x = block(x)
            else:
                x = block.shortcut(x)
            group = block.group
        return self.classes(x.mean((2, 3))), torch.cat(outputs, 1)


def make(options, channels, pixels, groups):
    images = torch.randn(options.batch, 3, pixels, pixels)
    if options.no_skip:
        return ResNet(channels, groups), (images,)
    return SkipNet(channels, groups), (images, pinning.pin(options.rate, sum(groups) - 1))


if __name__ == "__main__":
    program.main()
