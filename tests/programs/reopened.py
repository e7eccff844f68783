"""Opens the same file for each sample, or not; prints how often, by its own count.

    reopened.py KIND DIRECTORY WORKERS

KIND: `archive`, a tar.gz is opened for each sample, and inflated; `archive_once`, each process unpacks it
once; `json`, annotations are parsed for each sample; `json_once`, once in each process; `arrays`, an .npz of all
samples is loaded for each one; `different`, each sample has a
file of its own; `cheap`, a small file is opened again for each sample, and the time goes elsewhere.
"""
import io
import json
import os
import pathlib
import sys
import tarfile
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

SAMPLES, BATCH = 160, 4


def make(directory):
    generator = torch.Generator().manual_seed(7)
    with tarfile.open(directory / "all.tar.gz", "w:gz", compresslevel=1) as archive:
        for number in range(SAMPLES):
            data = bytes(torch.randint(0, 64, (8000,), generator=generator, dtype=torch.uint8).numpy())
            entry = tarfile.TarInfo(f"{number:03}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
            (directory / f"{number:03}.bin").write_bytes(data)
    boxes = [{"id": number, "box": [number, 2 * number, 0.5, 1.5], "label": f"class {number % 7}"} for number in range(8000)]
    (directory / "all.json").write_text(json.dumps(boxes))
    numpy.savez(directory / "all.npz", samples=torch.rand(SAMPLES, 5000, generator=generator).numpy())


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100))


class Samples(Dataset):
    def __init__(self, kind, directory):
        self.kind, self.directory, self.kept = kind, directory, None

    def __len__(self):
        return SAMPLES

    def members(self):
        if self.kept is None:
            with tarfile.open(self.directory / "all.tar.gz") as archive:
                self.kept = {member.name: archive.extractfile(member).read() for member in archive}
        return self.kept

    def boxes(self):
        if self.kept is None:
            with open(self.directory / "all.json") as file:
                self.kept = json.load(file)
        return self.kept

    def __getitem__(self, index):
        if self.kind.startswith("archive"):
            if self.kind == "archive_once":
                return len(self.members()[f"{index:03}"])
            with tarfile.open(self.directory / "all.tar.gz") as archive:
                return len(archive.extractfile(f"{index:03}").read())
        if self.kind.startswith("json"):
            if self.kind == "json":
                self.kept = None
            return self.boxes()[index]["id"]
        if self.kind == "arrays":
            with numpy.load(self.directory / "all.npz") as arrays:
                return float(arrays["samples"][index].mean())
        burn(0.004)
        name = f"{index:03}" if self.kind == "different" else "000"
        return len((self.directory / f"{name}.bin").read_bytes())


def main():
    kind, directory, workers = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    directory.mkdir()
    make(directory)
    torch.set_num_threads(1)
    loader = DataLoader(Samples(kind, directory), batch_size=BATCH, num_workers=workers)
    samples = sum(len(batch) for batch in loader)
    name = {"archive": "all.tar.gz", "json": "all.json", "arrays": "all.npz", "cheap": "000.bin"}.get(kind)
    print(json.dumps({"path": name and str(directory / name), "opens": samples if name else 0,
                      "size": os.path.getsize(directory / name) if name else 0}))


main()
