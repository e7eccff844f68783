"""Each sample writes a table for its join: SQLite lets one writer in, the other workers wait for the lock.

Source: pytorch_geometric#8661.
"""
import shutil
import sqlite3
import tempfile
import uuid

import torch
from torch.utils.data import DataLoader, Dataset

import common


class Graphs(Dataset):
    """`writes`: the table is one of the database, else one of the connection's own."""

    def __init__(self, path, writes):
        self.path, self.writes, self.database = path, writes, None

    def __len__(self):
        return 200

    def __getitem__(self, index):
        if self.database is None:
            self.database = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            self.database.execute("pragma temp_store = memory")
        if self.writes:
            self.database.execute("begin immediate")
        table = f"asked_{uuid.uuid4().hex}"
        self.database.execute(f"create {'' if self.writes else 'temp '}table {table}(id integer, place integer)")
        asked = [((index * 97 + place * 31) % 5000, place) for place in range(64)]
        self.database.executemany(f"insert into {table} values(?, ?)", asked)
        graph = self.build(self.database.execute(
            f"select content from nodes join {table} on {table}.id = nodes.id order by place").fetchall())
        self.database.execute(f"drop table {table}")
        if self.writes:
            self.database.execute("commit")
        return graph

    def build(self, rows):
        total = sum(len(content) for content, in rows)
        for step in range(150_000):
            total += step
        return torch.full((64, 64), float(total))


def case(bad, data):
    with tempfile.TemporaryDirectory() as directory:
        path = shutil.copy(data / "graph.db", directory)
        loader = DataLoader(Graphs(path, writes=bad), batch_size=2, num_workers=4, shuffle=True,
                            persistent_workers=True)
        for _ in range(2):
            common.train(loader, step=0.005)


if __name__ == "__main__":
    common.main(case)
