"""Loads batches on one core beside two busy processes; prints the share of its time that each fetch computed.

The truth is the thread's CPU time around each batch, which is long compared with a read of that clock.
"""
import json
import os
import subprocess
import sys
import time

from torch.utils.data import DataLoader, Dataset

FETCHES = 30


class Burns(Dataset):
    def __len__(self):
        return FETCHES

    def __getitem__(self, index):
        return self.work(index)

    def work(self, index):
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            sum(range(200))
        return index


def main():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    others = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"], env={}) for _ in range(2)]
    wall, cpu = time.perf_counter(), time.thread_time()
    batches = sum(1 for _ in DataLoader(Burns()))
    wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    for other in others:
        other.kill()
        other.wait()
    print(json.dumps({"batches": batches, "off_percent": 100 * (1 - cpu / wall)}))


main()
