"""Trains without a loader, and changes in one step in place what autograd has saved, which PyTorch refuses.

    changed_in_place.py STEP    prints the step in which the error came, and its first words
"""
import sys

import torch

torch.manual_seed(0)
model = torch.nn.Linear(256, 256)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    for step in range(12):
        optimizer.zero_grad()
        made = model(torch.randn(256, 256)).sigmoid()
        loss = made.sum()
        if step == int(sys.argv[1]):
            made.mul_(2)
        loss.backward()
        optimizer.step()
    print("no error")
except RuntimeError as error:
    print(step, str(error)[:80])
