"""Training of modules inside of modules, the program's own and PyTorch's, or of one that calls itself: memory_nested.py modules|recursion

Prints as JSON: "lines": kind and sizes of each linear layer's weight → the line of this file that called the layer, or what it is in.
No two are of the same sizes.
"""
import inspect
import json
import sys

import torch
from torch import nn

STEPS, DEPTH, WIDE = 6, 40, 32
lines = {}


def here(*layers):
    for layer in layers:
        lines[f"float32{list(layer.weight.shape)}"] = inspect.currentframe().f_back.f_lineno


class Leaf(nn.Module):
    def __init__(self, high):
        super().__init__()
        self.up, self.down = nn.Linear(WIDE, high), nn.Linear(high, WIDE)

    def forward(self, x):
        here(self.up); x = torch.relu(self.up(x))
        here(self.down); return self.down(x)


class Block(nn.Module):
    """Its layers are in containers of PyTorch, one inside of the other; what is inside may be a block, too."""
    def __init__(self, inside, high):
        super().__init__()
        self.layers = nn.Linear(WIDE, high), nn.Linear(high, WIDE)
        self.body = nn.Sequential(inside, nn.Sequential(self.layers[0], nn.Tanh(), self.layers[1]))

    def forward(self, x):
        here(*self.layers); return x + self.body(x)


class Tree(nn.Module):
    """Calls itself on two lines."""
    def __init__(self):
        super().__init__()
        self.mix, self.end = nn.Linear(WIDE, WIDE), nn.Linear(WIDE, WIDE + 1)

    def forward(self, x, depth=DEPTH):
        if depth == 0:
            here(self.end); return self.end(x)
        here(self.mix); x = torch.tanh(self.mix(x))
        if depth % 3 == 0:
            return self(x, depth - 1) + 1
        return self(x, depth - 1)


model = {"modules": lambda: nn.Sequential(Block(Block(Leaf(33), 34), 35), nn.Sequential(Leaf(36))), "recursion": Tree}
torch.manual_seed(0)
torch.set_num_threads(1)
net = model[sys.argv[1]]()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(STEPS):
    optimizer.zero_grad(set_to_none=True)
    net(torch.randn(16, WIDE)).pow(2).mean().backward()
    optimizer.step()
print(json.dumps({"lines": lines}))
