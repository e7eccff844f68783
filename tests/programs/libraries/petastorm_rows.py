"""Petastorm: batches of a Parquet store."""
import pathlib
import sys

import numpy
import pyarrow
import pyarrow.parquet
from petastorm import make_batch_reader
from petastorm.pytorch import DataLoader

import clock


def main():
    path = pathlib.Path(sys.argv[1]) / "petastorm"
    if not path.exists():
        path.mkdir()
        pyarrow.parquet.write_table(pyarrow.table({"value": numpy.arange(192.0)}), path / "rows.parquet")
    with make_batch_reader(path.as_uri(), num_epochs=2, reader_pool_type="thread", workers_count=2) as reader:
        clock.train(DataLoader(reader, batch_size=8), lambda batch: len(batch["value"]), epochs=1)


if __name__ == "__main__":
    main()
