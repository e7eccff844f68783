"""Workers wait for one lock, or for one thing that serves one at a time."""
import fcntl
import multiprocessing
import os
import socket
import sqlite3
import tempfile
import threading
import time

import common
import torch
from torch.utils.data import DataLoader, Dataset


class Guarded(Dataset):
    """A cache behind a lock of multiprocessing."""

    def __init__(self, shared):
        self.lock = multiprocessing.Lock() if shared else None

    def __len__(self):
        return 320

    def __getitem__(self, index):
        if self.lock is None:
            return self.read(index)
        with self.lock:
            return self.read(index)

    def read(self, index):
        time.sleep(0.005)
        return torch.zeros(3, 32, 32)


def lock_of_multiprocessing(bad):
    common.train(DataLoader(Guarded(bad), 8, num_workers=4), step=0.002)


class Refilled(Dataset):
    """A thread of the worker's fills a cache, and holds the lock of the readers as long as that takes."""

    def __init__(self, held):
        self.held, self.lock, self.filler = held, threading.Lock(), None

    def __len__(self):
        return 400

    def fill(self):
        while True:
            if self.held:
                with self.lock:
                    time.sleep(0.006)
            else:
                time.sleep(0.006)
            time.sleep(0.0005)

    def __getitem__(self, index):
        if self.filler is None:
            self.filler = threading.Thread(target=self.fill, daemon=True)
            self.filler.start()
        with self.lock:
            return self.read(index)

    def read(self, index):
        return torch.zeros(3, 32, 32)


def lock_of_threading(bad):
    common.train(DataLoader(Refilled(bad), 8, num_workers=2), step=0.004)


class Locked(Dataset):
    """A file's lock around each reading."""

    def __init__(self, path, shared):
        self.path, self.shared, self.file = path, shared, None

    def __len__(self):
        return 320

    def __getitem__(self, index):
        if self.file is None:
            self.file = open(self.path if self.shared else f"{self.path}.{os.getpid()}", "w")
        fcntl.flock(self.file, fcntl.LOCK_EX)
        time.sleep(0.005)
        fcntl.flock(self.file, fcntl.LOCK_UN)
        return torch.zeros(3, 32, 32)


def lock_of_a_file(bad):
    with tempfile.TemporaryDirectory() as directory:
        common.train(DataLoader(Locked(f"{directory}/lock", bad), 8, num_workers=4), step=0.002)


class Graphs(Dataset):
    """Writes a table for each join: SQLite lets one writer in."""

    def __init__(self, path, writes):
        self.path, self.writes, self.database = path, writes, None

    def __len__(self):
        return 160

    def __getitem__(self, index):
        if self.database is None:
            self.database = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        self.database.execute("begin immediate" if self.writes else "begin")
        rows = self.database.execute("select sum(number) from numbers").fetchall()
        time.sleep(0.008)
        self.database.execute("commit")
        return torch.full((8, 8), float(rows[0][0]))


def lock_of_a_database(bad):
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/graphs.db"
        with sqlite3.connect(path) as database:
            database.execute("create table numbers(number integer)")
            database.executemany("insert into numbers values(?)", [(number,) for number in range(500)])
        common.train(DataLoader(Graphs(path, bad), 4, num_workers=4), step=0.004)


class Served(Dataset):
    """Asks a server, which answers one question at a time, or each in a thread of its own."""

    def __init__(self, address):
        self.address = address

    def __len__(self):
        return 320

    def __getitem__(self, index):
        with socket.create_connection(self.address) as connection:
            connection.recv(1)
        return torch.zeros(3, 32, 32)


def serve(listener, in_turn):
    while True:
        connection, _ = listener.accept()
        if in_turn:
            answer(connection)
        else:
            threading.Thread(target=answer, args=(connection,), daemon=True).start()


def answer(connection):
    time.sleep(0.005)
    connection.sendall(b".")
    connection.close()


def one_server(bad):
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        server = multiprocessing.get_context("fork").Process(target=serve, args=(listener, bad), daemon=True)
        server.start()
        common.train(DataLoader(Served(listener.getsockname()), 8, num_workers=4), step=0.002)
        server.kill()


if __name__ == "__main__":
    common.main(lock_of_multiprocessing, lock_of_threading, lock_of_a_file, lock_of_a_database, one_server)
