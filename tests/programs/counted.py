"""Operations with planted page faults and context switches; prints what the kernel counted in each, by name.

    counted.py WORKERS [PAGES]

The truth is getrusage() and the CPU clock of the thread around what each operation does. Faults of one operation happen
inside of a system call. The switches are in operations of more than 6 ms, so that all of them are measured.
"""
import json
import mmap
import resource
import sys
import time

from torch.utils.data import DataLoader, Dataset

from runners.plain import Compose

PAGES = int(sys.argv[2]) if len(sys.argv) > 2 else 300
SLEEPS = 25


def counts():
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return usage.ru_minflt + usage.ru_majflt, usage.ru_nvcsw + usage.ru_nivcsw, time.thread_time_ns()


class Operation:
    def __call__(self, sample):
        before = counts()
        self.work()
        after = counts()
        counted = (last - first for first, last in zip(before, after))
        sample[type(self).__name__] = {"calls": 1, **dict(zip(("page-faults", "context-switches", "task-clock"), counted))}
        return sample


class TouchesPages(Operation):
    def work(self):
        with mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
            for page in range(PAGES):
                memory[page * mmap.PAGESIZE] = 1


class ReadsIntoPages(Operation):
    def work(self):
        with mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
            with open("/dev/zero", "rb", buffering=0) as zeros:
                zeros.readinto(memory)


class Sleeps(Operation):
    def work(self):
        for _ in range(SLEEPS):
            time.sleep(0.0004)


class Made(Dataset):
    def __init__(self, length, *transforms):
        self.length = length
        self.transform = Compose(transforms)

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.transform({})


def main():
    workers = int(sys.argv[1])
    truth = {}
    for dataset in (Made(1600, TouchesPages(), ReadsIntoPages()), Made(40, Sleeps())):
        for batch in DataLoader(dataset, batch_size=20, num_workers=workers, collate_fn=list):
            for sample in batch:
                for name, counted in sample.items():
                    known = truth.setdefault(name, dict.fromkeys(counted, 0))
                    for key, value in counted.items():
                        known[key] += value
    print(json.dumps(truth))


main()
