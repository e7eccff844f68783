"""A worker hangs for ever in an operation on one sample, as on a lock that was held at the fork. Ends at a line of input.

Before it hangs, the worker writes its pid and the time (ns since 1970) to standard output.
"""
import os
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from compose import Compose

WORKERS, BATCH, STUCK = 2, 4, 21


class Locks:
    def __call__(self, i):
        if i == STUCK:
            print(os.getpid(), time.time_ns(), flush=True)
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()
        return torch.tensor(i)


class Data(Dataset):
    def __init__(self):
        self.transform = Compose([Locks()])

    def __len__(self):
        return 64

    def __getitem__(self, i):
        return self.transform(i)


def end_with_input():
    sys.stdin.readline()
    os._exit(0)


def main():
    loader = iter(DataLoader(Data(), batch_size=BATCH, num_workers=WORKERS))
    threading.Thread(target=end_with_input, daemon=True).start()
    for _ in loader:
        pass


if __name__ == "__main__":
    main()
