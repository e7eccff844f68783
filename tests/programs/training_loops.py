"""Trains a small model whose forward has a loop, with the loop over batches written in one way or another.

    training_loops.py KIND

KIND: plain, function (one call for each epoch), generator (a function of the program's that gives batches on), alone (no
DataLoader), while or recursion (the training calls itself, and so does the model). Lines that end with "# around KIND" are
loops around a step; "# inside 4" marks the model's, with its iterations in each step, "# test 1 0" a test of the training
loop's with how often it is true and false in each.
"""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, BATCHES = 2, 12
KIND = sys.argv[1]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:  # inside 4
            x = torch.relu(layer(x))
        return self.down(x, 3) if KIND == "recursion" else x

    def down(self, x, depth):
        return x if depth == 0 else torch.tanh(self.down(x, depth - 1))


torch.manual_seed(1)
torch.set_num_threads(1)
MODEL = Net()
OPTIMIZER = torch.optim.SGD(MODEL.parameters(), lr=0.01)
LOADER = DataLoader(TensorDataset(torch.randn(8 * BATCHES, 16), torch.randn(8 * BATCHES, 16)), batch_size=8)


def step(x, y):
    OPTIMIZER.zero_grad()
    loss = ((MODEL(x) - y) ** 2).mean()
    loss.backward()
    OPTIMIZER.step()
    return loss


def plain():
    for _ in range(EPOCHS):  # around plain
        for number, (x, y) in enumerate(LOADER):  # around plain
            if number < BATCHES:  # test 1 0
                y = y + 0
            loss = step(x, y)
    return loss


def one_epoch():
    for x, y in LOADER:  # around function
        loss = step(x, y)
    return loss


def function():
    for _ in range(EPOCHS):  # around function
        loss = one_epoch()
    return loss


def batches():
    for batch in LOADER:  # around generator
        yield batch


def generator():
    for _ in range(EPOCHS):  # around generator
        for x, y in batches():  # around generator
            loss = step(x, y)
    return loss


def alone():
    x, y = torch.randn(8, 16), torch.randn(8, 16)
    for _ in range(EPOCHS * BATCHES):  # around alone
        loss = step(x, y)
    return loss


def with_while():
    epoch = 0
    while epoch < EPOCHS:  # around while
        rest = iter(LOADER)
        left = BATCHES
        while left > 0:  # around while
            loss = step(*next(rest))
            left -= 1
        epoch += 1
    return loss


def again(epochs):
    for x, y in LOADER:  # around recursion
        loss = step(x, y)
    return again(epochs - 1) if epochs > 1 else loss


CASES = {"plain": plain, "function": function, "generator": generator, "alone": alone, "while": with_while,
         "recursion": lambda: again(EPOCHS)}
print(f"{float(CASES[KIND]()):.6f}")
