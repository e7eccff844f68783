"""Each operation starts a thread that computes, and waits for its end.

Prints the threads' numbers and the CPU time that they used, in ns."""
import hashlib
import threading
import time

from torch.utils.data import DataLoader

from runners.samples import Samples

SAMPLES, COMPUTE_NS = 12, 100_000_000


class Threaded:
    def __call__(self, sample):
        thread = threading.Thread(target=compute, args=(sample,))
        thread.start()
        thread.join()
        return sample["used"]


def compute(sample):
    block = bytes(1 << 20)
    while time.thread_time_ns() < COMPUTE_NS:
        hashlib.sha256(block).digest()  # without the interpreter's lock
    sample["used"] = [threading.get_native_id(), time.thread_time_ns()]


def main():
    for samples in DataLoader(Samples(SAMPLES, [Threaded()]), num_workers=1, batch_size=SAMPLES, collate_fn=list):
        print(*[thread for thread, _ in samples])
        print(sum(used for _, used in samples))


if __name__ == "__main__":
    main()
