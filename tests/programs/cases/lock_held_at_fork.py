"""A lock that another thread held at the fork stays locked in the workers: they wait for it for ever.

Sources: ultralytics#26085, pytorch#75147.
"""
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

import common

lock = threading.Lock()


def hold_again_and_again():
    while True:
        with lock:
            time.sleep(0.2)
        time.sleep(0.001)


class Locked(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return self.transform(torch.zeros(3, 8, 8))

    def transform(self, photo):
        with lock:
            return photo + 1


def case(bad, _):
    if bad:
        threading.Thread(target=hold_again_and_again, daemon=True).start()
        time.sleep(0.05)
    common.train(DataLoader(Locked(), batch_size=8, num_workers=2), step=0.005)


if __name__ == "__main__":
    common.main(case)
