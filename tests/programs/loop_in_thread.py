"""A DataLoader that a thread goes through.

Argument: `prefetch`, a thread that trains nothing takes the batches, and hands them on by a queue to the main one, which trains;
`whole`, a thread takes the batches and trains; `two`, two such threads train at once, each with a loader of its own; `backward`, the
main thread takes the batches, and another one makes the optimizer's steps while the main one waits in its backward pass, as PyTorch's
does for a GPU; `alone`, a thread takes the batches, and nothing trains with them. Then the number of workers. Prints as JSON how many
batches were taken.
"""
import json
import queue
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from threads_of import in_threads

EPOCHS, BATCHES, SIZE = 2, 16, 4
taken = []


class Slow(Dataset):
    def __len__(self):
        return BATCHES * SIZE

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.full((8,), float(index))


class Training:
    def __init__(self):
        self.model = torch.nn.Linear(8, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-6)

    def step(self, batch):
        taken.append(len(batch))
        self.optimizer.zero_grad()
        self.model(batch).sum().backward()
        self.optimizer.step()

    def run(self, loader):
        for _ in range(EPOCHS):
            for batch in loader:
                self.step(batch)


def loader():
    return DataLoader(Slow(), batch_size=SIZE, num_workers=int(sys.argv[2]))


def prefetched(batches):
    got = queue.Queue(2)

    def fill():
        for batch in batches:
            got.put(batch)
        got.put(None)

    thread = threading.Thread(target=fill)
    thread.start()
    yield from iter(got.get, None)
    thread.join()


def prefetch():
    training, batches = Training(), loader()
    for _ in range(EPOCHS):
        for batch in prefetched(batches):
            training.step(batch)
            time.sleep(0.01)  # longer than a batch takes


def whole():
    in_threads(lambda: Training().run(loader()))


def two():
    in_threads(*[lambda: Training().run(loader())] * 2)


class StepsInBackward(torch.autograd.Function):
    @staticmethod
    def forward(context, result, optimizer):
        context.optimizer = optimizer
        return result.clone()

    @staticmethod
    def backward(context, gradient):
        in_threads(context.optimizer.step)
        return gradient, None


def backward():
    training = Training()
    for _ in range(EPOCHS):
        for batch in loader():
            taken.append(len(batch))
            StepsInBackward.apply(training.model(batch).sum(), training.optimizer).backward()


def alone():
    in_threads(lambda: [taken.append(len(batch)) for _ in range(EPOCHS) for batch in loader()])


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"prefetch": prefetch, "whole": whole, "two": two, "backward": backward, "alone": alone}[sys.argv[1]]()
    print(json.dumps({"batches": len(taken), "samples": sum(taken)}))
