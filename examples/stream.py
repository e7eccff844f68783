#!/usr/bin/python3
"""A stream of records: an iterable dataset that several workers share, each of which reads its own files.

    LD_PRELOAD=/path/to/liblotus.so examples/stream.py [--files 4] [--workers 2]
    lotus-analyze report

The samples of file 0 take ten times as long as the others: the report shows that worker 0, which reads it, is slower.
"""
import argparse
import json
import math
import pathlib
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

SAMPLES_A_FILE = 1000


def make_files(directory, count):
    """JSON lines: a signal's frequency and how many points it has."""
    for number in range(count):
        points = 4000 if number == 0 else 400
        lines = [json.dumps({"frequency": 1 + index % 7, "points": points}) for index in range(SAMPLES_A_FILE)]
        (directory / f"part-{number:02}.jsonl").write_text("\n".join(lines))


def synthesize(record):
    step = 2 * math.pi * record["frequency"] / record["points"]
    return [math.sin(step * point) for point in range(record["points"])]


def downsample(signal):
    return torch.tensor(signal[::len(signal) // 100][:100])


class Signals(IterableDataset):
    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        worker = get_worker_info()
        paths = self.paths[worker.id::worker.num_workers] if worker else self.paths
        for path in paths:
            for line in path.read_text().splitlines():
                record = json.loads(line)
                yield downsample(synthesize(record)), record["frequency"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        make_files(pathlib.Path(directory), options.files)
        paths = sorted(pathlib.Path(directory).glob("*.jsonl"))
        loader = DataLoader(Signals(paths), batch_size=20, num_workers=options.workers,
                            persistent_workers=options.workers > 0)
        model = nn.Linear(100, 8)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(2):
            for signals, targets in loader:
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(signals), targets)
                loss.backward()
                optimizer.step()
            print(f"epoch {epoch}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
