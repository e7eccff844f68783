"""Prints what its DataLoaders really had: settings, worker processes, threads, and checksums of the batches."""
import argparse
import hashlib
import inspect
import json
import multiprocessing
import os
import threading

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

SAMPLES = 48


def sample(index):
    own = torch.get_num_threads() if get_worker_info() else 0
    return {"data": torch.full((3,), index), "pid": os.getpid(), "threads": own}


class Numbers(Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return sample(index)


class Greedy(Numbers):
    """Takes threads in each sample."""

    def __getitem__(self, index):
        torch.set_num_threads(4)
        return sample(index)


class Blurred(Numbers):
    """Works with OpenCV, whose number of threads it tells."""

    def __getitem__(self, index):
        return {**sample(index), "threads": blur()}


class Nested(Numbers):
    """Makes a loader in the worker."""

    def __getitem__(self, index):
        return sample(sum(len(batch["data"]) for batch in DataLoader(Numbers(), 8)) + index)


class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        return map(sample, range(info.id if info else 0, SAMPLES, info.num_workers if info else 1))


class Own(DataLoader):
    """Gives settings of its own."""

    def __init__(self, dataset):
        super().__init__(dataset, 8, num_workers=1, prefetch_factor=3)


def blur():
    """Has OpenCV's pool work. Returns its number of threads."""
    import cv2
    import numpy
    cv2.GaussianBlur(numpy.ones((800, 800, 3), "f"), (0, 0), 3)
    return cv2.getNumThreads()


def with_opencv():
    """The pool runs already when workers are forked."""
    import cv2
    cv2.setNumThreads(4)
    blur()
    show(DataLoader(Blurred(), 8, num_workers=1))
    print(json.dumps(blur()))


def take_threads(_):
    torch.set_num_threads(3)


def show(loader, epochs=2):
    """One line for the loader, one for each epoch."""
    names = ("num_workers", "prefetch_factor", "persistent_workers", "pin_memory", "in_order")
    print(json.dumps({name: getattr(loader, name, None) for name in names}), flush=True)
    for _ in range(epochs):
        digest, seen, pids, threads = hashlib.sha256(), [], set(), set()
        for batch in loader:
            digest.update(batch["data"].numpy().tobytes())
            seen += batch["data"][:, 0].tolist()
            pids.update(batch["pid"].tolist())
            threads.update(batch["threads"].tolist())
        pids.discard(os.getpid())
        print(json.dumps({"digest": digest.hexdigest(), "sum": sum(seen), "count": len(seen),
                          "workers": len(pids), "threads": sorted(threads)}), flush=True)


def in_a_thread():
    thread = threading.Thread(target=lambda: show(DataLoader(Numbers(), 8, num_workers=1)))
    thread.start()
    thread.join()


def in_a_daemon():
    process = multiprocessing.get_context("fork").Process(target=lambda: show(DataLoader(Numbers(), 8)), daemon=True)
    process.start()
    process.join()


def two():
    show(DataLoader(Numbers(), 8, num_workers=1))
    show(DataLoader(Numbers(), 16))


CASES = {
    "one": lambda: show(DataLoader(Numbers(), 8, num_workers=1)),
    "none": lambda: show(DataLoader(Numbers(), 8)),
    "shuffled": lambda: show(DataLoader(Numbers(), 8, shuffle=True)),
    "positional": lambda: show(DataLoader(Numbers(), 8, False, None, None, 1)),
    "batches": lambda: show(DataLoader(Numbers(), batch_sampler=[[1, 2], [3]], num_workers=1)),
    "set": lambda: show(DataLoader(Numbers(), 8, num_workers=1, prefetch_factor=3, persistent_workers=True)),
    "spawn": lambda: show(DataLoader(Numbers(), 8, num_workers=1, multiprocessing_context="spawn"), epochs=1),
    "waiting": lambda: show(DataLoader(Numbers(), 8, num_workers=1, timeout=30)),
    "subclass": lambda: show(Own(Numbers())),
    "stream": lambda: show(DataLoader(Stream(), 8, num_workers=1)),
    "greedy": lambda: show(DataLoader(Greedy(), 8, num_workers=1, worker_init_fn=take_threads)),
    "greedy-spawn": lambda: show(DataLoader(Greedy(), 8, num_workers=1, worker_init_fn=take_threads,
                                            multiprocessing_context="spawn"), epochs=1),
    "nested": lambda: show(DataLoader(Nested(), 8, num_workers=1), epochs=1),
    "opencv": with_opencv,
    "thread": in_a_thread,
    "daemon": in_a_daemon,
    "two": two,
    "signature": lambda: print(json.dumps(list(inspect.signature(DataLoader.__init__).parameters))),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=CASES, default="one")
    torch.manual_seed(7)
    CASES[parser.parse_args().case]()
