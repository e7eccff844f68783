"""Steps through two DataLoaders at once, one of which keeps training waiting; prints how long the loop took, and waiting in it."""
import json
import time

import torch
from torch.utils.data import DataLoader, Dataset

BATCHES = 25
waited = [0.0]


class Numbers(Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 2 * BATCHES

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full((4,), float(index))


def timed(iterator):
    while True:
        begin = time.perf_counter()
        batch = next(iterator, None)
        waited[0] += time.perf_counter() - begin
        if batch is None:
            return
        yield batch


def main():
    quick, slow = (iter(DataLoader(Numbers(seconds), 2)) for seconds in (0.002, 0.01))
    begin = time.perf_counter()
    for a, b in zip(timed(quick), timed(slow)):
        time.sleep(0.01)
        (a + b).sum()
    print(json.dumps({"loop": time.perf_counter() - begin, "waited": waited[0]}))


main()
