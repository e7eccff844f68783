"""Trains a small model, and prints what its numbers were: losses, and a checksum of parameters and gradients; and by how
much memory of malloc in use rose from the begin of each step to its backward pass (`held`).

    planned_steps.py MODEL [BATCH [STEPS]]

MODEL: mlp, cnn, attention, or viewed, in which what a layer makes is saved only through views of it. The activations are most of its memory. Nothing else than autograd holds them in the
backward pass.
"""
import ctypes
import hashlib
import json
import sys

import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset

MODEL = sys.argv[1]
BATCH = int(sys.argv[2]) if len(sys.argv) > 2 else 1024 if MODEL in ("mlp", "viewed") else 64
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 12


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        y = self.first(x)
        weights = torch.softmax(self.query(y) @ self.key(y).transpose(1, 2) / 8, -1)
        x = x + self.out(weights @ self.value(y))
        return x + self.narrow(torch.nn.functional.gelu(self.wide(self.second(x))))


class Viewed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        half = x.shape[1] // 2
        for number, layer in enumerate(self.layers):
            y = layer(x)
            if number % 2 == 0:
                x = torch.cat([y[:, :half].sin(), y[:, half:].cos()], 1)
            else:
                x = torch.cat([y.view(2 * y.shape[0], half).tanh().view_as(y).chunk(2, 1)[0], y.t()[half:].t().sin()], 1)
        return x


def make_model():
    if MODEL == "viewed":
        return nn.Sequential(nn.Flatten(), nn.Linear(768, 256), Viewed(256), nn.Linear(256, 10))
    if MODEL == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(768, 256), nn.ReLU(), nn.Linear(256, 256), nn.Tanh(),
                             nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    if MODEL == "attention":
        return nn.Sequential(nn.Flatten(), nn.Unflatten(1, (48, 16)), nn.Linear(16, 64), Block(64), Block(64), nn.Flatten(),
                             nn.Linear(48 * 64, 10))
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1),
                         nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Mallinfo2


def in_use():
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


torch.manual_seed(0)
torch.set_num_threads(1)
model = make_model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
images, labels = torch.randn(2 * BATCH, 3, 16, 16), torch.randint(0, 10, (2 * BATCH,))
data = ConcatDataset([TensorDataset(images, labels)] * (STEPS // 2))
losses, held, gradients = [], [], hashlib.sha256()
for x, y in DataLoader(data, batch_size=BATCH):
    optimizer.zero_grad(set_to_none=True)
    before = in_use()
    loss = nn.functional.cross_entropy(model(x), y)
    held.append(in_use() - before)
    loss.backward()
    for parameter in model.parameters():
        gradients.update(parameter.grad.numpy().tobytes())
    optimizer.step()
    losses.append(loss.item())
for parameter in model.parameters():
    gradients.update(parameter.detach().numpy().tobytes())
print(json.dumps({"losses": losses, "gradients": gradients.hexdigest(), "held": held}))
