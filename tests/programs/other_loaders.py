"""A training whose batches come from a loader that is not PyTorch's: site-packages/batchworks.py.

Argument: how its batches are made, in processes by the name of how they begin, `shown` (the same behind a progress bar), `torch` (PyTorch's DataLoader behind that bar),
`launched` (PyTorch's DataLoader in a training that a package's thread calls), `moved` (PyTorch's DataLoader, after a package has gone through
its own tensors), `trained` and `evaluated` (the package takes its batches itself, for a training or for what a model makes of them), `none` (a package's generator of parameters) or `model` (a
package's model that iterates). Prints as JSON how long each call of load() took and each batch was waited for, in seconds.
"""
import json
import os
import pathlib
import sys
import tempfile
import time

import torch
from torch.utils.data import DataLoader

from truth import now

sys.path.append(str(pathlib.Path(__file__).with_name("stacks") / "site-packages"))
import batchworks  # noqa: E402
import progressbar  # noqa: E402

EPOCHS, SAMPLES, BATCH = 2, 48, 4
# Of all processes, which also inherit the name: each call adds a line at once.
told = open(os.environ.setdefault("OTHER_LOADERS_TOLD", os.path.join(tempfile.mkdtemp(), "told")), "ab+", buffering=0)


def load(key):
    start = now()
    time.sleep(0.002)  # without the interpreter's lock, which threads would take turns with
    os.write(told.fileno(), b"%d\n" % (now() - start))
    return [[float(key)] * 8] * 3


class Loaded(torch.utils.data.Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return load(index)


def epoch(kind):
    if kind in ("torch", "launched", "moved"):
        batches = DataLoader(Loaded(), BATCH)
        return progressbar.shown(batches) if kind == "torch" else iter(batches)
    loader = batchworks.Loader(load, SAMPLES, BATCH, how="threads" if kind == "shown" else kind)
    return progressbar.shown(loader) if kind == "shown" else iter(loader)


def main():
    kind = sys.argv[1]
    if kind == "none":
        count = sum(1 for _ in range(3) for _ in batchworks.parameters(torch.nn.Linear(2, 2)))
        return print(json.dumps({"parameters": count}))
    if kind == "model":
        model = batchworks.Blocks()
        rows = [len(model(torch.ones(2, 4))) for _ in range(3)]
        with torch.no_grad():
            rows += [len(model(torch.ones(2, 4))) for _ in range(3)]
        return print(json.dumps({"rows": rows}))
    if kind in ("trained", "evaluated"):
        return taken_by_package(kind)
    if kind == "moved":
        batchworks.Graph(x=torch.ones(4, 2), edges=torch.ones(2, 8), y=torch.ones(4)).to("cpu")
    if kind == "launched":
        return batchworks.launch(train)
    train()


def taken_by_package(kind):
    model = torch.nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01) if kind == "trained" else None

    def step(batch):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    def predict(batch):
        with torch.no_grad():
            model(batch)

    waits = []
    for _ in range(EPOCHS):
        batches = iter(batchworks.Loader(load, SAMPLES, BATCH))
        batchworks.run(batches, predict if optimizer is None else step, waits, now)
    tell(waits)


def train():
    kind = sys.argv[1]
    waits = []
    for _ in range(EPOCHS):
        batches = epoch(kind)
        while True:
            start = now()
            batch = next(batches, None)
            if batch is None:
                break
            waits.append((now() - start) / 1e9)
    tell(waits)


def tell(waits):
    told.seek(0)
    spent = [int(line) / 1e9 for line in told.read().split()]
    print(json.dumps({"waits": waits, "spent": spent}))


if __name__ == "__main__":
    main()
