"""Different ways to use a DataLoader; --case selects one."""
import functools
import gc
import multiprocessing
import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch.utils.data import DataLoader, Dataset

import made
import support
import truth

BATCH = 4


def loader_of(dataset, name="train", **options):
    truth.log(("paths", dataset.keys, name))
    options = {"batch_size": BATCH, "num_workers": 2, "collate_fn": made.collate, **options}
    return DataLoader(dataset, **options)


def train(loader, name="train", epoch=0, first=None, lines=None):
    """Iterates over the loader, or its `first` batches; prints a line for each, or adds it to `lines`."""
    for number, batch in enumerate(truth.watch(loader, name, epoch)):
        line = f"{name} {epoch} {number} {support.digest(batch)}"
        print(line, flush=True) if lines is None else lines.append(line)
        if number + 1 == first:
            break
    truth.flush()


def epochs(count=2, **options):
    loader = loader_of(made.Tensors(), **options)
    for epoch in range(count):
        train(loader, epoch=epoch)


def say_who(worker):
    """A worker_init_fn; its settings show in the samples."""
    torch.manual_seed(1000 + worker)
    os.environ["WHO"] = str(worker)


def ask_who(_):
    assert os.environ["WHO"] in "01"


def many():
    dataset = made.Tensors(before=ask_who)
    loader = loader_of(dataset, persistent_workers=True, prefetch_factor=5, worker_init_fn=say_who, timeout=60)
    for epoch in range(3):
        train(loader, epoch=epoch)


def any_order():
    """Slow samples at the start: later batches arrive first, and are handed out as they arrive."""
    numbers = []
    loader = loader_of(made.Tensors(before=slow_at_first), in_order=False)
    for batch in truth.watch(loader):
        numbers += batch[1].tolist()
    truth.flush()
    print(sorted(numbers) == list(range(32)), numbers != sorted(numbers))


def slow_at_first(index):
    if index < BATCH:
        time.sleep(0.2)


def fail_at(index):
    if index == 17:
        raise ValueError(f"sample {index} is bad")


def raising():
    """A loader cannot continue after a worker raised; the next epoch works."""
    dataset = made.Tensors(before=fail_at)
    try:
        train(loader_of(dataset))
    except ValueError as error:
        print(str(error).splitlines()[0], "|", str(error).splitlines()[-1])
    # Frees the failed iterator. The next workers would inherit it, and both print warnings when they free it.
    gc.collect()
    truth.flush()
    train(loader_of(made.Tensors(), "again"), "again")


def hang_at(index):
    if index == 17:
        time.sleep(600)


def hanging():
    """A worker hangs; the loader's timeout raises; the workers are killed."""
    loader = loader_of(made.Tensors(before=hang_at), timeout=2)
    iterator = iter(loader)
    try:
        for number, batch in enumerate(iterator):
            print(number, support.digest(batch), flush=True)
    except RuntimeError as error:
        print(str(error))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # PyTorch's handler would raise at a random line
    for worker in iterator._workers:
        worker.kill()


def die_at(other_works, index):
    """Kills the worker that makes sample 17, after the other worker has made a sample."""
    if index == 5:
        other_works.set()
    if index == 17:
        other_works.wait()
        os.kill(os.getpid(), signal.SIGKILL)


def killed():
    """Noticed when the next batch is missing; PyTorch's SIGCHLD handler would raise at any line."""
    iterator = iter(loader_of(made.Tensors(before=functools.partial(die_at, multiprocessing.Event()))))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        for number, batch in enumerate(iterator):
            print(number, support.digest(batch), flush=True)
    except (RuntimeError, EOFError, OSError):  # depends on whether it died while it sent a batch
        print("a worker died")


class Loading(Dataset):
    """A dataset whose samples come from an inner loader."""

    def __init__(self):
        self.inner = made.Tensors()

    def __len__(self):
        return len(self.inner) // 2

    def __getitem__(self, index):
        pair = torch.utils.data.Subset(self.inner, [2 * index, 2 * index + 1])
        return next(iter(DataLoader(pair, batch_size=2, collate_fn=made.collate)))[0]


def nested():
    loader = DataLoader(Loading(), batch_size=BATCH, num_workers=2, collate_fn=made.collate)
    for number, batch in enumerate(loader):
        print(number, support.digest(batch), flush=True)


def threads():
    """Two loaders, each in its own thread."""
    lines = {"left": [], "right": []}
    loaders = {name: loader_of(made.Tensors(name=name), name) for name in lines}
    running = [threading.Thread(target=train, args=(loaders[name], name, 0, None, lines[name])) for name in lines]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    print("\n".join(lines["left"] + lines["right"]))


def times_two(value):
    return 2 * value


class Pooled(made.Tensors):
    """Uses other threads, other processes and another program for each sample."""

    def __init__(self, pool):
        super().__init__(before=self.ask)
        self.pool = pool

    def ask(self, index):
        if self.pool is not None:
            assert self.pool.map(times_two, [index, 3]) == [2 * index, 6]
        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(times_two, [1, index])) == [2, 2 * index]
        assert subprocess.run(["echo", str(index)], capture_output=True, text=True).stdout == f"{index}\n"


def helpers():
    """Helper threads in workers; without workers also a process pool, as workers may not have children."""
    train(loader_of(Pooled(None)))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        train(loader_of(Pooled(pool), "alone", num_workers=0), "alone")


def again():
    """A new loader for each epoch, abandoned earlier each time, when its last reference goes."""
    dataset = made.Tensors()
    for epoch, first in enumerate([8, 5, 1]):
        train(loader_of(dataset), epoch=epoch, first=first)


def turns():
    """Two loaders with the same settings, each made anew for each epoch while the other one exists."""
    for epoch in range(3):
        training = loader_of(made.Tensors())
        train(training, epoch=epoch)
        validation = loader_of(made.Tensors(name="validation"), "validation")
        train(validation, "validation", epoch)


def kept():
    """A new loader for each epoch, whose persistent workers stay alive unused."""
    loaders = []
    for epoch in range(3):
        loaders.append(loader_of(made.Tensors(), persistent_workers=True))
        train(loaders[-1], epoch=epoch)


def side_by_side():
    """Two loaders from one line, the second made while the first is used; two made before either is used."""
    running = []
    for name in ("first", "second"):
        running.append(truth.watch(loader_of(made.Tensors(name=name), name), name))
        print(support.digest(next(running[-1])))
    print(*map(support.digest, [batch for pair in zip(*running) for batch in pair]))
    phases = {name: loader_of(made.Tensors(name=name), name, batch_size=2) for name in ("third", "fourth")}
    for name, loader in phases.items():
        train(loader, name)


CASES = {
    "fork": lambda: epochs(multiprocessing_context="fork"),
    "spawn": lambda: epochs(multiprocessing_context="spawn"),
    "forkserver": lambda: epochs(multiprocessing_context="forkserver"),
    "default": epochs,
    "persistent-spawn": lambda: epochs(multiprocessing_context="spawn", persistent_workers=True),
    "prefetch": lambda: epochs(prefetch_factor=1, num_workers=3),
    "many": many,
    "any_order": any_order,
    "raising": raising,
    "hanging": hanging,
    "killed": killed,
    "nested": nested,
    "threads": threads,
    "helpers": helpers,
    "again": again,
    "turns": turns,
    "kept": kept,
    "side_by_side": side_by_side,
}


def main():
    options = support.arguments(__doc__, case="default")
    CASES[options.case]()


if __name__ == "__main__":
    main()
