"""Shared by the test programs: arguments, a small model, and reproducible results."""
import argparse
import hashlib
import multiprocessing
import pathlib

import torch
from torch import nn

import truth


def arguments(description, workers=2, epochs=1, batch_size=8, **more):
    """Parses the command line, begins the truth file if one was asked for, and seeds everything."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", help="an ImageFolder tree")
    parser.add_argument("--truth", help="write what was measured to files PREFIX.<pid>", metavar="PREFIX")
    parser.add_argument("--workers", type=int, default=workers)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch-size", type=int, default=batch_size)
    parser.add_argument("--start-method", choices=["fork", "spawn", "forkserver"])
    for name, default in more.items():
        parser.add_argument("--" + name.replace("_", "-"), default=default)
    options = parser.parse_args()
    truth.start(options.truth)
    if options.start_method:
        multiprocessing.set_start_method(options.start_method)
    torch.manual_seed(7)
    torch.set_num_threads(1)
    return options


AS_WITH_A_GPU = {"is_available": True, "current_device": 0, "current_device_index": 0, "set_device": None,
                 "set_device_index": None, "current_accelerator": torch.device("cuda")}


def pretend_a_gpu():
    """Makes PyTorch believe that there is a GPU, so that its pin thread runs; pinning then only copies."""
    for module in (torch.cuda, getattr(torch, "accelerator", None)):
        for name, answer in AS_WITH_A_GPU.items():
            if hasattr(module, name):
                setattr(module, name, lambda *_, answer=answer, **__: answer)
    torch.Tensor.pin_memory = lambda tensor, *_: tensor.clone()


def digest(data):
    """The first 16 hexadecimal digits of the SHA-256 of every tensor in nested lists and dictionaries."""
    digester = hashlib.sha256()
    _update(digester, data)
    return digester.hexdigest()[:16]


def _update(digester, data):
    if isinstance(data, torch.Tensor):
        digester.update(f"{data.dtype}{tuple(data.shape)}".encode())
        digester.update(data.contiguous().numpy().tobytes())
    elif isinstance(data, dict):
        for key in sorted(data):
            digester.update(key.encode())
            _update(digester, data[key])
    elif isinstance(data, (list, tuple)):
        for item in data:
            _update(digester, item)
    else:
        digester.update(repr(data).encode())


def show(number, batch, *more):
    """Prints a line for a batch, which is the same in every run of a program."""
    print(number, digest(batch), *more, flush=True)


def photographs(directory):
    """All JPEGs of an ImageFolder tree, sorted."""
    return sorted(str(path) for path in pathlib.Path(directory).glob("*/*.jpeg"))


class Net(nn.Module):
    """A minimal model for photographs."""

    def __init__(self, classes=8):
        super().__init__()
        self.features = nn.Conv2d(3, 4, kernel_size=7, stride=8)
        self.classifier = nn.Linear(4, classes)

    def forward(self, images):
        return self.classifier(self.features(images).relu().mean(dim=(2, 3)))


class Training:
    """A model and its optimiser; step() returns the loss."""

    def __init__(self):
        self.model = Net()
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def step(self, images, targets):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(images), targets)
        loss.backward()
        self.optimizer.step()
        return loss.item()
