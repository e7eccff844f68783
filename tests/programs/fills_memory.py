"""Makes batches while the file system of its segments is full: none of them may fail.

    fills_memory.py DIRECTORY BATCHES

After a tenth of the batches a file in DIRECTORY takes all the room that is left there; it is removed at the end. Prints
how many batches were made before and in all, and how many bytes the file had.
"""
import json
import os
import random
import sys

from torch.utils.data import DataLoader, Dataset

directory, batches = sys.argv[1], int(sys.argv[2])
CALLS, SIZE = 40, 25


class Turn:
    def __call__(self, number):
        return number ^ random.getrandbits(8)


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, number):
        for transform in self.transforms:
            number = transform(number)
        return number


class Numbers(Dataset):
    def __init__(self):
        self.transform = Compose([Turn() for _ in range(CALLS)])

    def __len__(self):
        return batches * SIZE

    def __getitem__(self, index):
        return self.transform(index)


made = before = 0
filler = os.path.join(directory, "filler")
for _ in DataLoader(Numbers(), SIZE):
    made += 1
    if made != batches // 10:
        continue
    before = made
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
size = os.path.getsize(filler)
os.remove(filler)
print(json.dumps({"before": before, "made": made, "size": size}))
