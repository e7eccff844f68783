"""Changes a running pipeline: order of transforms, one of them, their list, a class's __call__, the loader.

One transform calls a thousand functions. Prints how often each transform was called.
"""
import collections
import json
import time

import torch
from torch.utils.data import DataLoader, Dataset

calls = collections.Counter()


def counted(name):
    class Transform:
        def __call__(self, value):
            calls[name] += 1
            return self.work(value)

        def work(self, value):
            return value + 1

    Transform.__name__ = Transform.__qualname__ = name
    return Transform


First, Second, Third, Fourth = (counted(name) for name in ("First", "Second", "Third", "Fourth"))
functions = {}
for number in range(1000):
    exec(f"def function_{number}(value): return value", functions)
functions = [functions[f"function_{number}"] for number in range(1000)]


class Many:
    """Calls more functions each time, but few new ones at once, so that no names are lost."""

    def __call__(self, value):
        calls["Many"] += 1
        for function in functions[:30 * calls["Many"]]:
            value = function(value)
        time.sleep(0.005)
        return value


def call_anew(self, value):
    calls["Third"] += 1
    return third_call(self, value) - 1


third_call = Third.__call__


def load(path):
    return torch.zeros(4)


def load_anew(path):
    return load(path) + 1


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, value):
        for transform in self.transforms:
            value = transform(value)
        return value


class Changing(Dataset):
    def __init__(self):
        self.loader = load
        self.transform = Compose([First(), Second(), Third()])

    def __len__(self):
        return 700

    def change(self, index):
        transforms = self.transform.transforms
        if index == 100:
            transforms.reverse()
        elif index == 200:
            transforms[1] = Fourth()
        elif index == 300:
            self.before = transforms
            self.transform.transforms = [Many(), transforms[0]]
        elif index == 350:
            self.transform.transforms = self.before
        elif index == 400:
            Third.__call__ = call_anew
        elif index == 500:
            self.loader = load_anew
        elif index == 600:
            self.loader = load

    def __getitem__(self, index):
        self.change(index)
        calls["Loader"] += 1
        return self.transform(self.loader(f"/data/{index}"))


for batch in DataLoader(Changing(), batch_size=10):
    pass
# The old Third is called by the new one as its helper, and does not count as an operation.
calls["Third"] -= 300
print(json.dumps(calls))
