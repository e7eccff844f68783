#!/usr/bin/python3
"""Makes the data of the cases, with a fixed seed.

    make_data.py DIR     a DIR that is there already is left unchanged

photos/ has 240 JPEGs of 640x480, thumbnails/ 390 of 400x300, frames/ 20,000 files of 256 bytes, table.pkl a
DataFrame of 40,000 rows and 24 columns of numbers, graph.db a SQLite database of 5,000 nodes with 2,000 bytes each.
"""
import fcntl
import os
import pathlib
import shutil
import sqlite3
import sys
import tempfile

import numpy
from PIL import Image


def photographs(directory, count, size, coarse, quality, random):
    """Random colours of `coarse` by `coarse` points, smoothly enlarged: they decode as photographs do."""
    directory.mkdir()
    for number in range(count):
        colours = random.integers(0, 255, (size[1] // coarse, size[0] // coarse, 3), dtype=numpy.uint8)
        Image.fromarray(colours).resize(size, Image.BICUBIC).save(directory / f"{number:04}.jpg", quality=quality)


def frames(directory):
    directory.mkdir()
    for number in range(20_000):
        (directory / f"frame_{number:07}.bin").write_bytes(b"x" * 256)


def table(path, random):
    try:
        import pandas
    except ImportError:
        return  # the test of the case that reads it is skipped
    rows = 40_000
    columns = {f"c{number}": random.normal(size=rows) if number % 3 else random.integers(0, 9, rows)
               for number in range(24)}
    pandas.DataFrame(columns).assign(name=[f"r{row}" for row in range(rows)]).to_pickle(path)


def graph(path, random):
    database = sqlite3.connect(path)
    database.execute("create table nodes(id integer primary key, content blob)")
    database.executemany("insert into nodes values(?, ?)", ((node, random.bytes(2000)) for node in range(5000)))
    database.commit()
    database.close()


def make(directory):
    random = numpy.random.default_rng(7)
    photographs(directory / "photos", 240, (640, 480), 20, 90, random)
    photographs(directory / "thumbnails", 390, (400, 300), 20, 88, random)
    frames(directory / "frames")
    table(directory / "table.pkl", random)
    graph(directory / "graph.db", random)


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.exit(__doc__.strip())
    directory = pathlib.Path(arguments[0])
    directory.parent.mkdir(parents=True, exist_ok=True)
    with open(directory.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests of several files may ask at once
        if directory.exists():
            return
        made = pathlib.Path(tempfile.mkdtemp(prefix=".cases-", dir=directory.parent))
        try:
            make(made)
            os.rename(made, directory)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise


if __name__ == "__main__":
    main(sys.argv[1:])
