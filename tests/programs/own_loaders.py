"""A training whose batches come from a loader that it has written itself, or that is none at all.

Argument: one of the functions below; `of_…` is a loader, `no_…` none. Prints as JSON how long each call of load() took and each batch
was waited for, in seconds.
"""
import collections
import concurrent.futures
import json
import multiprocessing
import multiprocessing.pool
import os
import pathlib
import queue
import sys
import tempfile
import threading
import time

import numpy
import torch

from truth import now

sys.path.append(str(pathlib.Path(__file__).with_name("stacks") / "site-packages"))
import batchworks  # noqa: E402

EPOCHS, SAMPLES, BATCH = 2, 48, 4
KEYS = [range(at, at + BATCH) for at in range(0, SAMPLES, BATCH)]
# Of all processes, which also inherit the name: each call adds a line at once.
told = open(os.environ.setdefault("OWN_LOADERS_TOLD", os.path.join(tempfile.mkdtemp(), "told")), "ab+", buffering=0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
pool = concurrent.futures.ThreadPoolExecutor(2)
threads = multiprocessing.pool.ThreadPool(2) if "of_thread_pool" in sys.argv else None
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
waits = []


def load(key):
    start = now()
    time.sleep(0.002)  # without the interpreter's lock, which threads would take turns with
    os.write(told.fileno(), b"%d\n" % (now() - start))
    return [float(key)] * 8


def made(keys):
    return torch.tensor([load(key) for key in keys])


# Loaders: each is called once for each epoch, and what it gives is gone through.


def of_generator():
    for keys in KEYS:
        yield torch.tensor([load(key) for key in keys]), torch.zeros(BATCH, dtype=torch.long)


class of_iterator:
    """With numpy's arrays in a dict."""

    def __init__(self):
        self.keys = iter(KEYS)

    def __iter__(self):
        return self

    def __next__(self):
        return {"rows": numpy.array([load(key) for key in next(self.keys)], numpy.float32)}


class of_iterable:
    """With a pool of threads, one batch ahead."""

    def __iter__(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            ahead = collections.deque()
            for keys in KEYS:
                ahead.append([pool.submit(load, key) for key in keys])
                if len(ahead) > 2:
                    yield torch.tensor([row.result() for row in ahead.popleft()])
            while ahead:
                yield torch.tensor([row.result() for row in ahead.popleft()])


class of_thread(threading.Thread):
    """A thread that makes batches ahead of training: the iterator is the thread."""

    def __init__(self):
        super().__init__(daemon=True)
        self.made = queue.Queue(2)
        self.start()

    def run(self):
        for keys in KEYS:
            self.made.put(torch.tensor([load(key) for key in keys]))
        self.made.put(None)

    def __iter__(self):
        return self

    def __next__(self):
        batch = self.made.get()
        if batch is None:
            raise StopIteration
        return batch


class Methods:
    """A loader all of whose work is in methods of its own; `Batch.made` calls `Batch.load` and a short helper."""

    def __init__(self):
        self.keys = iter(KEYS)

    def __iter__(self):
        return self

    def shortened(self, row):
        return row[:8]

    def loaded(self, key):
        return self.shortened(load(key))

    def made(self, keys):
        return torch.tensor([self.loaded(key) for key in keys])


class of_methods(Methods):
    def __next__(self):
        return self.made(next(self.keys))


class of_method_loop(Methods):
    """In a thread whose function is but a loop's guard, with a method that waits for training to take batches."""

    def __iter__(self):
        self.ready = queue.Queue(2)
        threading.Thread(target=self.work, daemon=True).start()
        return self

    def __next__(self):
        return self.taken()

    def taken(self):
        batch = self.ready.get()
        if batch is None:
            raise StopIteration
        return batch

    def give(self, batch):
        self.ready.put(batch)

    def work(self):
        try:
            self.loop()
        finally:
            self.give(None)

    def loop(self):
        for keys in KEYS:
            self.give(self.made(keys))


def of_prefetch():
    """A generator behind another one, which hands on what it gives."""
    ahead = collections.deque()
    for batch in of_generator():
        ahead.append(batch)
        if len(ahead) > 1:
            yield ahead.popleft()
    yield from ahead


def of_map():
    """Python's own iterator, of the results of a pool of threads."""
    return pool.map(made, KEYS)


def of_thread_pool():
    """Of multiprocessing's pool of threads, which were started before and wait for tasks as long as they live."""
    for keys in KEYS:
        yield torch.tensor(threads.map(load, keys))


def of_processes():
    """Of the results of a pool of forked processes."""
    with multiprocessing.get_context("fork").Pool(2) as workers:
        yield from workers.imap(made, KEYS)


def of_spawned():
    """… of processes that begin anew."""
    with multiprocessing.get_context("spawn").Pool(2) as workers:
        yield from workers.imap(made, KEYS)


def of_executor():
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("forkserver")) as workers:
        yield from workers.map(made, KEYS)


def work(tasks, results):
    while (keys := tasks.get()) is not None:
        results.put(torch.tensor([load(key) for key in keys]).tolist())


def of_workers():
    """Of processes that it forks itself."""
    context = multiprocessing.get_context("fork")
    tasks, results = context.SimpleQueue(), context.SimpleQueue()
    workers = [context.Process(target=work, args=(tasks, results)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for keys in [*KEYS, None, None]:
        tasks.put(keys)
    for _ in KEYS:
        yield torch.tensor(results.get())
    for worker in workers:
        worker.join()


def of_sums():
    """Of whose batches training takes two for a step."""
    yield from (torch.tensor([load(key) for key in keys]) for keys in KEYS)


def of_both(keys=KEYS):
    """Training stops for validation every few batches, with batches of the same function."""
    for some in keys:
        yield torch.tensor([load(key) for key in some])


def of_beside_view():
    """Of a program that moves a package's object at first and in each step, which goes through its own tensors."""
    yield from of_generator()


def graph_of(rows):
    return batchworks.Graph(x=rows, edges=torch.zeros(2, 8), y=torch.zeros(len(rows))).to("cpu")


def step(rows):
    loss = model(rows).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def rows_of(batch):
    rows = batch["rows"] if isinstance(batch, dict) else batch[0] if isinstance(batch, tuple) else batch
    return torch.as_tensor(rows)


def taken(batches):
    start = now()
    batch = next(batches, None)
    if batch is not None:
        waits.append((now() - start) / 1e9)
    return batch


def train(kind):
    every = 2 if kind is of_sums else 1
    if kind is of_beside_view:
        graph_of(torch.zeros(4, 8))
    for _ in range(EPOCHS):
        batches, number = iter(kind()), 0
        while (batch := taken(batches)) is not None:
            number += 1
            rows = rows_of(batch)
            if kind is of_beside_view:
                rows = graph_of(rows).tensors["x"]
            if number % every == 0:
                step(rows)
            others = of_both(KEYS[:2]) if kind is of_both and number % 4 == 0 else iter([])
            while (batch := taken(others)) is not None:
                model(rows_of(batch)).detach()


# No loaders: each is a whole training.

DATA = torch.randn(64, 8)


def no_time_steps():
    """A model that goes through the times of its input."""
    def times(rows):
        for time_step in range(8):
            yield rows[:, time_step:time_step + 1]

    for _ in range(10):
        step(torch.cat(list(times(DATA)), dim=1))


def no_parameters():
    def gradients():
        for parameter in model.parameters():
            yield parameter.grad if parameter.grad is not None else torch.zeros(2, 2)

    for _ in range(10):
        step(DATA)
        for gradient in gradients():
            gradient.clamp_(-1, 1)


def no_parts():
    """A batch that is too large for one pass."""
    def parts():
        yield from DATA.split(16)

    for _ in range(10):
        optimizer.zero_grad()
        for part in parts():
            model(part).square().mean().backward()
        optimizer.step()


def no_measurements():
    def means():
        mean = torch.zeros(2)
        while True:
            mean = 0.9 * mean + 0.1 * (yield mean)

    mean = means()
    next(mean)
    for _ in range(10):
        mean.send(torch.stack([step(DATA), step(DATA)]))


def no_predictions():
    """The model works in the generator."""
    def predictions():
        for _ in range(10):
            yield model(DATA)

    for predicted in predictions():
        optimizer.zero_grad()
        predicted.square().mean().backward()
        optimizer.step()


def no_training():
    """A generator that trains, and gives what came out."""
    def trained():
        for _ in range(10):
            step(DATA)
            yield model(DATA).detach()

    for predicted in trained():
        predicted.sum()


def no_folds():
    """Datasets, with each of which a whole training is made."""
    def folds():
        for fold in range(8):
            yield DATA[fold * 8:fold * 8 + 8], DATA

    for rows, _ in folds():
        for _ in range(10):
            step(rows)


def no_layers():
    def layers():
        yield from model

    for _ in range(10):
        rows = DATA
        for layer in layers():
            rows = layer(rows)
        step(DATA)


def no_view():
    """A whole graph for each step: the package that it is of goes through its tensors."""
    for _ in range(10):
        step(graph_of(DATA).tensors["x"])


def beside_pytorchs():
    with multiprocessing.get_context("fork").Pool(2) as workers:
        for _ in range(EPOCHS):
            for [rows] in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(DATA), BATCH):
                step(rows)
                workers.map(load, range(2))


def main():
    kind = globals()[sys.argv[1]]
    if not sys.argv[1].startswith("of_"):
        return kind()
    train(kind)
    told.seek(0)
    spent = [int(line) / 1e9 for line in told.read().split()]
    return print(json.dumps({"waits": waits, "spent": spent}))


if __name__ == "__main__":
    main()
