"""A dataset that hands its work to four threads: plain Python, or hashing, which releases the interpreter's lock.
Prints how long the threads neither computed nor waited for a core, and how long they waited for one, in s. Argument: 'python' or 'hashing'."""
import hashlib
import json
import multiprocessing
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from torch.utils.data import DataLoader, Dataset

THREADS, BATCHES, BATCH = 4, 40, 2
# What is told are waits of a switch interval and more: of a short one, so that those below it are next to nothing.
sys.setswitchinterval(0.001)
waited, delayed = multiprocessing.Value("d", 0.0), multiprocessing.Value("d", 0.0)
data = bytes(1 << 20)


def run_delay():
    with open(f"/proc/self/task/{threading.get_native_id()}/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


def python(_):
    count = 0
    for i in range(300_000):
        count += i & 3
    return count


def hashing(_):
    return [hashlib.sha256(data).digest() for _ in range(5)]


def measured(work):
    wall, cpu, delay = time.perf_counter(), time.thread_time(), run_delay()
    work(0)
    delay = run_delay() - delay
    with waited.get_lock():
        waited.value += time.perf_counter() - wall - (time.thread_time() - cpu) - delay
        delayed.value += delay


class Threaded(Dataset):
    pool = None
    work = staticmethod(python if sys.argv[1] == "python" else hashing)

    def __len__(self):
        return BATCHES * BATCH

    def __getitem__(self, index):
        if self.pool is None:
            self.pool = ThreadPoolExecutor(THREADS)
        list(self.pool.map(measured, [self.work] * THREADS))
        return index


def main():
    batches = 0
    for _ in DataLoader(Threaded(), batch_size=BATCH, num_workers=1):
        batches += 1
        time.sleep(0.002)
    print(json.dumps({"waited": waited.value, "delayed": delayed.value, "batches": batches}))


main()
