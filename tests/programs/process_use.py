"""Touches new memory, collects garbage and computes in a second thread; prints what it counted of itself.

    process_use.py SECONDS

Each batch takes about 0.1 s. Private memory is printed as the system gave it after each batch.
"""
import gc
import json
import mmap
import resource
import sys
import threading
import time

import torch  # noqa: F401, so that it is there before anything is counted
from torch.utils.data import DataLoader, Dataset

PAGES = 1000
kept = []
counts = {"wall": 0.0, "thread": 0.0, "process": 0.0}
collected = [0.0]


def private():
    """Memory without a file; it is this process's alone, as nothing was forked."""
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous:"))


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100))


class Uses(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        before = time.perf_counter(), time.thread_time(), time.process_time()
        helper = threading.Thread(target=burn, args=(0.04,))
        helper.start()
        burn(0.04)
        helper.join()
        memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for page in range(PAGES):
            memory[page * mmap.PAGESIZE] = 1
        kept.append(memory)
        begin = time.perf_counter()
        gc.collect()
        collected[0] += time.perf_counter() - begin
        after = time.perf_counter(), time.thread_time(), time.process_time()
        for name, first, last in zip(counts, before, after):
            counts[name] += last - first
        return index


def main():
    memory, faults, began = [], [], time.monotonic()
    seconds = float(sys.argv[1])
    batches, old = 0, gc.get_stats()[2]["collections"]
    idle = [threading.Thread(target=time.sleep, args=(seconds,), daemon=True) for _ in range(3)]
    for thread in idle:
        thread.start()
    for _ in DataLoader(Uses(1000)):
        batches += 1
        memory.append(private())
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
        if time.monotonic() - began > seconds:
            break
    counts.update(collected=collected[0], pages=PAGES, batches=batches, memory=memory, faults=faults, threads=len(idle) + 2,
                  collections=gc.get_stats()[2]["collections"] - old)
    print(json.dumps(counts))


main()
