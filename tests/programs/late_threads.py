"""One long sample whose first operation starts a thread that computes until the last operation stops it.

Prints the thread's number and the CPU time that it used, in ns."""
import hashlib
import threading
import time

from torch.utils.data import DataLoader

from runners.samples import Samples

PAUSES, PAUSE_S = 15, 0.1


class Start:
    def __call__(self, sample):
        sample["stop"] = threading.Event()
        sample["thread"] = threading.Thread(target=compute, args=(sample["stop"], sample))
        sample["thread"].start()
        return sample


class Pause:
    def __call__(self, sample):
        time.sleep(PAUSE_S)
        return sample


class Stop:
    def __call__(self, sample):
        sample["stop"].set()
        sample["thread"].join()
        return sample["used"]


def compute(stop, sample):
    block = bytes(1 << 20)
    while not stop.is_set():
        hashlib.sha256(block).digest()  # without the interpreter's lock
    sample["used"] = [threading.get_native_id(), time.thread_time_ns()]


def main():
    for thread, used in DataLoader(Samples(1, [Start(), *[Pause()] * PAUSES, Stop()]), num_workers=1):
        print(int(thread), int(used))


if __name__ == "__main__":
    main()
