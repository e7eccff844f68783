"""Threads that each train on a loader of their own, over one dataset, and count what they call.

Meanwhile, as asked for, another thread collects garbage or puts new lists and runners in place of those in use,
functions are made at run time and thrown away, and threads fork. The counts are printed at the end.
"""
import argparse
import collections
import functools
import gc
import json
import os
import sys
import threading
import time

from torch.utils.data import DataLoader, Dataset

from runners.plain import Compose

BATCH, SAMPLES = 4, 20
MADE = "def made_{0}(data):\n    count('made_{0}')\n    return helper(data)\ndef helper(data):\n    return data[1:] + data[:1]\n"
local = threading.local()


def count(name):
    local.calls[name] += 1


class Mix:
    def __call__(self, data):
        count("Mix")
        for _ in range(20):
            data = data[1:] + data[:1]
        return data


class Chosen:
    """Calls a function that is its own."""

    def __init__(self, function):
        self.function = function

    def __call__(self, data):
        count("Chosen")
        return self.function(data)


def rotate(data):
    count("rotate")
    return bytes(turn(byte) for byte in data)


def turn(byte):
    return (byte + 13) & 127


def reverse(data, times):
    count("reverse")
    for _ in range(times):
        data = data[::-1]
    return data


def load(number):
    count("Loader")
    return bytes((number + i) & 127 for i in range(40))


def collate(samples):
    count("Collation")
    return list(samples)


class Folder(Dataset):
    def __init__(self, transform):
        self.loader = load
        self.transform = transform

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.transform(self.loader(index))


def make_function(kind):
    """A function of code that nobody else has."""
    space = {"count": count}
    exec(compile(MADE.format(kind), "<made>", "exec"), space)
    return space[f"made_{kind}"]


def train(shared, options, deadline, total, number):
    local.calls = collections.Counter()
    epoch = 0
    while time.monotonic() < deadline if deadline else epoch < options.epochs:
        dataset = shared
        if options.make:
            dataset = Folder(Compose([Mix(), make_function(number % 3), rotate]))
        for _ in DataLoader(dataset, batch_size=BATCH, num_workers=0, collate_fn=collate):
            local.calls["batches"] += 1
        if options.fork and epoch % options.fork == number % options.fork:
            fork(dataset)
        epoch += 1
    total.append(local.calls)


def fork(dataset):
    """The child works, too, and leaves as workers do."""
    child = os.fork()
    if child == 0:
        for _ in DataLoader(dataset, batch_size=BATCH, num_workers=0, collate_fn=collate):
            pass
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    for name, calls in ops_of_an_epoch(dataset).items():
        local.calls[name] += calls


def ops_of_an_epoch(dataset):
    calls = collections.Counter(Loader=SAMPLES, Collation=SAMPLES // BATCH, batches=SAMPLES // BATCH)
    for one in dataset.transform.transforms:
        one = one.func if isinstance(one, functools.partial) else one
        calls[getattr(one, "__name__", type(one).__name__)] += SAMPLES
    return calls


def collect(ends):
    while not ends.wait(0.001):
        gc.collect()


def change(shared, ends):
    transforms = tuple(shared.transform.transforms)
    while not ends.wait(0.0001):
        shared.transform.transforms = list(transforms)
        shared.transform = Compose(list(transforms))
        for number in range(20):
            shared.__dict__[f"more{number}"] = None
        for number in range(20):
            del shared.__dict__[f"more{number}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seconds", type=float, help="instead of epochs")
    parser.add_argument("--collect", action="store_true")
    parser.add_argument("--change", action="store_true")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--fork", type=int, default=0, help="each thread, once in so many epochs", metavar="EPOCHS")
    options = parser.parse_args()
    shared = Folder(Compose([Mix(), rotate, functools.partial(reverse, times=9), Chosen(turn_all)]))
    total, ends = [], threading.Event()
    deadline = time.monotonic() + options.seconds if options.seconds else None
    threads = [threading.Thread(target=train, args=(shared, options, deadline, total, number))
               for number in range(options.threads)]
    others = [threading.Thread(target=collect, args=(ends,))] if options.collect else []
    if options.change:
        others.append(threading.Thread(target=change, args=(shared, ends)))
    for thread in others + threads:
        thread.start()
    for thread in threads:
        thread.join()
    ends.set()
    for thread in others:
        thread.join()
    assert len(total) == options.threads
    print(json.dumps({"calls": sum(total, collections.Counter()), "gil": getattr(sys, "_is_gil_enabled", lambda: True)()}))


def turn_all(data):
    return bytes(map(turn, data))


if __name__ == "__main__":
    main()
