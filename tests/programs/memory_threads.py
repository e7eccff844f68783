"""Trains a small model, parts of it in other threads: memory_threads.py KIND

KIND: main, all in the main thread; backward, the backward pass in another one; replicas, each half of the batch in a thread of
its own, as torch.nn.DataParallel has it; part, the second half of the model in another thread.
"""
import sys

import torch
from torch import nn

from threads_of import in_threads

KIND = sys.argv[1]
BATCH, WIDTH, STEPS = 2048, 256, 8


def loss_of(output, begin=0, end=BATCH):
    return nn.functional.cross_entropy(output, labels[begin:end])


torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(WIDTH, WIDTH), nn.Tanh())], nn.Linear(WIDTH, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
images, labels = torch.randn(BATCH, WIDTH), torch.randint(0, 10, (BATCH,))
half = BATCH // 2
for _ in range(STEPS):
    optimizer.zero_grad(set_to_none=True)
    if KIND == "replicas":
        in_threads(lambda: loss_of(model(images[:half]), 0, half).backward(),
                   lambda: loss_of(model(images[half:]), half).backward())
    elif KIND == "part":
        first = model[:4](images)
        between = first.detach().requires_grad_()
        in_threads(lambda: loss_of(model[4:](between)).backward())
        first.backward(between.grad)
    elif KIND == "backward":
        in_threads(loss_of(model(images)).backward)
    else:
        loss_of(model(images)).backward()
    optimizer.step()
