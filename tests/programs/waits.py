"""Fetches that wait in several ways; prints what it measured of each, as JSON: {function: [seconds, …]}."""
import json
import socket
import subprocess
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

SAMPLES = 12
LOG = sys.argv[1]
held = threading.Lock()


def hold(started):
    with held:
        started.set()
        time.sleep(0.03)


def answer(there):
    time.sleep(0.02)
    there.sendall(b"label")


class Labels(Dataset):
    """Each way to wait is a function of its own; `brief` waits for a millisecond."""

    def __len__(self):
        return SAMPLES

    def nap(self):
        time.sleep(0.02)

    def brief(self):
        time.sleep(0.001)

    def locked(self):
        with held:
            pass

    def asked(self, here):
        here.recv(16)

    def child(self):
        subprocess.run(["sleep", "0.03"], check=True)

    def measured(self, name, *arguments):
        begin = time.perf_counter()
        getattr(self, name)(*arguments)
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(f"{name} {time.perf_counter() - begin}\n")

    def __getitem__(self, index):
        self.measured("nap")
        self.measured("brief")
        started = threading.Event()
        holder = threading.Thread(target=hold, args=[started])
        holder.start()
        started.wait()
        self.measured("locked")
        holder.join()
        here, there = socket.socketpair()
        with here, there:
            other = threading.Thread(target=answer, args=[there])
            other.start()
            self.measured("asked", here)
            other.join()
        self.measured("child")
        begin = time.perf_counter()
        time.sleep(0.02)
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(f"__getitem__ {time.perf_counter() - begin}\n")
        return torch.zeros(1)


if __name__ == "__main__":
    for _ in DataLoader(Labels(), batch_size=4, num_workers=2):
        pass
    for _ in DataLoader(Labels(), batch_size=4):
        pass
    spent = {}
    for line in open(LOG, encoding="utf-8"):
        function, seconds = line.split()
        spent.setdefault(function, []).append(float(seconds))
    json.dump(spent, sys.stdout)
