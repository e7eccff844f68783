"""Python collects garbage by itself, over many objects, while a worker makes samples; the worker measures both.

Prints the share of the CPU time of the samples in which the garbage collector ran.
"""
import gc
import json
import time

from torch.utils.data import DataLoader, Dataset


class Watch:
    """CPU time in collections, as gc.callbacks tell."""

    def __init__(self):
        self.begin, self.total = 0, 0

    def __call__(self, phase, _):
        if phase == "start":
            self.begin = time.thread_time_ns()
        else:
            self.total += time.thread_time_ns() - self.begin


class Parsed(Dataset):
    def __init__(self):
        self.index = [[number] for number in range(150_000)]
        self.watch = None

    def __len__(self):
        return 80

    def __getitem__(self, index):
        if self.watch is None:
            self.watch = Watch()
            gc.callbacks.append(self.watch)
            gc.set_threshold(700, 2, 2)
        begin, before = time.thread_time_ns(), self.watch.total
        kept = [[number] for number in range(8_000)]
        computed = sum(number * number % 7 for number in range(100_000))
        return [self.watch.total - before, time.thread_time_ns() - begin, len(kept) + computed]


def main():
    rows = [row for batch in DataLoader(Parsed(), batch_size=4, num_workers=1, collate_fn=list) for row in batch]
    print(json.dumps({"share": sum(row[0] for row in rows) / sum(row[1] for row in rows)}))


if __name__ == "__main__":
    main()
