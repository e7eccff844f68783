"""Workers that take their time to start; prints what is known of it.

    worker_starts.py METHOD

METHOD: `fork`, `spawn` or `forkserver`. Two workers for each of two epochs. The dataset takes 0.3 s to unpickle, the
main module 0.25 s to import again, worker_init_fn 0.2 s, and pickling 0.15 s.
"""
import json
import multiprocessing.reduction
import sys
import time

from torch.utils.data import DataLoader, Dataset

UNPICKLING, IMPORTING, PREPARING, PICKLING = 0.3, 0.25, 0.2, 0.15
if __name__ != "__main__":
    time.sleep(IMPORTING)


class Records(Dataset):
    def __init__(self):
        self.records = bytes(3_000_000)

    def __getstate__(self):
        time.sleep(PICKLING)
        return {"records": self.records}

    def __setstate__(self, state):
        time.sleep(UNPICKLING)
        self.records = state["records"]

    def __len__(self):
        return 32

    def __getitem__(self, index):
        return self.records[index]


def prepare(_):
    time.sleep(PREPARING)


def main():
    loader = DataLoader(Records(), 4, num_workers=2, worker_init_fn=prepare, multiprocessing_context=sys.argv[1])
    began = time.perf_counter()
    batches = sum(1 for _ in range(2) for _ in loader)
    seconds = time.perf_counter() - began
    pickled = len(multiprocessing.reduction.ForkingPickler.dumps(Records()))
    print(json.dumps({"batches": batches, "seconds": seconds, "pickled": pickled, "unpickling": UNPICKLING, "importing": IMPORTING,
                      "preparing": PREPARING, "pickling": PICKLING}))


if __name__ == "__main__":
    main()
