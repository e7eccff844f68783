"""Waits for locks that another thread holds, and for an event; prints how long each took, in seconds."""
import json
import multiprocessing
import threading
import time

from torch.utils.data import DataLoader, Dataset

ITEMS = 10
spent = {"lock": 0.0, "recursive": 0.0, "shared": 0.0, "event": 0.0}


class Holder:
    """A thread that takes a lock when it is told to, and keeps it for a while."""

    def __init__(self, lock):
        self.lock, self.go, self.held = lock, threading.Event(), threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            self.go.wait()
            self.go.clear()
            with self.lock:
                self.held.set()
                time.sleep(0.02)

    def hold(self):
        self.held.clear()
        self.go.set()
        self.held.wait()


class Waits(Dataset):
    def __init__(self):
        self.locks = {"lock": threading.Lock(), "recursive": threading.RLock(), "shared": multiprocessing.Lock()}
        self.holders = {name: Holder(lock) for name, lock in self.locks.items()}

    def __len__(self):
        return ITEMS

    def __getitem__(self, index):
        for name in self.locks:
            self.holders[name].hold()
            self.wait(name)
        self.rest()
        return index

    def wait(self, name):
        begin = time.perf_counter()
        if name == "recursive":
            self.locks[name].acquire()
            self.locks[name].release()
        else:
            with self.locks[name]:
                pass
        spent[name] += time.perf_counter() - begin

    def rest(self):
        begin = time.perf_counter()
        threading.Event().wait(0.02)
        spent["event"] += time.perf_counter() - begin


def main():
    for _ in DataLoader(Waits(), batch_size=2):
        pass
    print(json.dumps(spent))


main()
