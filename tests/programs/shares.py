"""Operations with known native functions and a known CPU time of each (tests/programs/native/shares.c).

    shares.py --libraries DIRECTORY --seed N [--samples N] [--beside]

DIRECTORY has libshares.so and liblate.so. Prints the measured CPU time as {operation: {"all": ns, function:
ns, …}}. Each operation burns about 3 ms per sample, in random portions and random order. A fixed order would
bias samples: on a busy machine the kernel preempts a thread that reads a CPU clock, as at an operation's
entry, and resumes it at a tick, so a timer that counts by ticks sees too little of what follows.

With --beside, another thread is inside an operation, Beside, while the others run.
"""
import argparse
import collections
import ctypes
import json
import os
import random
import threading
import time

from torch.utils.data import DataLoader, Dataset

from runners.plain import Compose

FIRST, SHARED, SECOND, BRIEF, BY_HAND, POOLED, LATE = range(7)
NAMES = ["burn_first", "burn_shared", "burn_second", "burn_brief", "burn_by_hand", "burn_pooled", "burn_late"]
PIECE_NS = 100_000
POOL_REST = 0.002  # seconds until helpers wait again; else their rest would count for the next operation
POOL_PAUSE = 0.12  # seconds until a tracer has found new threads

truth = collections.defaultdict(collections.Counter)
chance = random.Random()
rounds_of_ns = 0.0


def load(directory, name):
    library = ctypes.CDLL(os.path.join(directory, name))
    library.burn.restype = ctypes.c_long
    return library


def calibrate(library):
    """The number of loop rounds per ns."""
    rounds = 1_000_000
    return rounds / min(library.burn(FIRST, ctypes.c_long(rounds)) for _ in range(5))


def rounds(ns):
    """Rounds for a random time around this one."""
    return round(ns * rounds_of_ns * chance.uniform(0.2, 1.8))


class Operation:
    """Burns PIECES, {function: (number of calls, ns per call)}, in random order."""

    def __init__(self, libraries):
        self.libraries = libraries
        self.spent = truth[type(self).__name__]

    def __call__(self, index):
        begin = time.thread_time_ns()
        self.work(index)
        self.spent["all"] += time.thread_time_ns() - begin
        return index

    def work(self, _):
        pieces = [(function, rounds(ns)) for function, (count, ns) in self.PIECES.items() for _ in range(count)]
        self.burn(self.libraries["shares"], chance.sample(pieces, len(pieces)))

    def burn(self, library, pieces):
        """Calls functions of one library, without Python code in between."""
        functions, lengths = zip(*pieces)
        spent = (ctypes.c_long * len(NAMES))()
        count = len(pieces)
        library.burn_pieces(count, (ctypes.c_int * count)(*functions), (ctypes.c_long * count)(*lengths), spent)
        for name, ns in zip(NAMES, spent):
            self.spent[name] += ns


class First(Operation):
    PIECES = {FIRST: (18, PIECE_NS), SHARED: (12, PIECE_NS)}


class Second(Operation):
    """Calls a function of its own, and one that First calls, too."""

    PIECES = {SHARED: (6, PIECE_NS), SECOND: (24, PIECE_NS)}


class Brief(Operation):
    """Many short calls of a function, among calls of one that cannot be unwound."""

    PIECES = {BRIEF: (50, PIECE_NS // 5), BY_HAND: (20, PIECE_NS)}


class Late(Operation):
    """From the middle of the run on, calls a library that is loaded then."""

    PIECES = {FIRST: (15, PIECE_NS)}

    def __init__(self, libraries, samples, directory):
        super().__init__(libraries)
        self.middle, self.directory = samples // 2, directory

    def work(self, index):
        if index == self.middle:
            self.libraries["late"] = load(self.directory, "liblate.so")
        late = "late" in self.libraries and chance.random() < 0.5
        if late:
            self.burn(self.libraries["late"], [(LATE, rounds(PIECE_NS)) for _ in range(30)])
        else:
            super().work(index)


class Pooled(Operation):
    """Burns CPU time in helper threads."""

    PIECES = {SECOND: (10, PIECE_NS)}

    def work(self, index):
        super().work(index)
        if index == 0:
            self.libraries["shares"].start_pool()
            time.sleep(POOL_PAUSE)
        elif index > 1:
            spent = (ctypes.c_long * 2)()
            self.libraries["shares"].burn_in_pool(ctypes.c_long(rounds(10 * PIECE_NS)), spent)
            self.spent["burn_pooled"] += spent[0]
            self.spent["all"] += spent[1]
            time.sleep(POOL_REST)


class Beside:
    """Waits until the other operations are done."""

    def __init__(self):
        self.entered, self.over = threading.Event(), threading.Event()

    def __call__(self, index):
        self.entered.set()
        self.over.wait()
        return index


class Indices(Dataset):
    def __init__(self, samples, transform):
        self.samples, self.transform = samples, transform

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        return self.transform(index)


def iterate(samples, *operations):
    for _ in DataLoader(Indices(samples, Compose(operations)), num_workers=0, batch_size=1):
        pass


def main():
    global rounds_of_ns
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--beside", action="store_true")
    options = parser.parse_args()
    chance.seed(options.seed)
    libraries = {"shares": load(options.libraries, "libshares.so")}
    rounds_of_ns = calibrate(libraries["shares"])
    if options.beside:
        beside = Beside()
        thread = threading.Thread(target=iterate, args=(1, beside))
        thread.start()
        beside.entered.wait()
    late = Late(libraries, options.samples, options.libraries)
    iterate(options.samples, First(libraries), Second(libraries), Brief(libraries), late)
    iterate(options.samples, Pooled(libraries))
    if options.beside:
        beside.over.set()
        thread.join()
    print(json.dumps({op: {name: ns for name, ns in spent.items() if ns > 0} for op, spent in truth.items()}))


if __name__ == "__main__":
    main()
