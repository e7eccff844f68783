"""Other programs use the cores."""
import os
import signal
import subprocess
import sys

import common
import torch
from torch.utils.data import DataLoader, Dataset

BUSY = "import os\nos.nice(int(__import__('sys').argv[1]))\nwhile True: pass"


class Others:
    """Busy processes on one core each, which are not of the program; nice ones hardly take any time of it."""

    def __init__(self, count, niceness):
        command = [sys.executable, "-S", "-c", BUSY, str(niceness)]
        self.processes = [subprocess.Popen(command, env={}) for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.send_signal(signal.SIGKILL)
            process.wait()


class Computed(Dataset):
    def __init__(self, seconds, count):
        self.seconds, self.count = seconds, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.work(torch.zeros(64))

    def work(self, sample):
        common.burn(self.seconds)
        return sample


def beside(others, workers, step, bad):
    """Enough workers, if each had a core."""
    cores = len(os.sched_getaffinity(0))
    with Others(others * cores, 0 if bad else 19):
        common.train(DataLoader(Computed(0.005, 320), 4, num_workers=workers), step=step)


def two_busy_programs(bad):
    beside(2, 1, 0.03, bad)


def four_busy_programs(bad):
    beside(4, 1, 0.03, bad)


def two_workers_beside_others(bad):
    beside(3, 2, 0.014, bad)


if __name__ == "__main__":
    common.main(two_busy_programs, four_busy_programs, two_workers_beside_others)
