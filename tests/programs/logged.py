"""A pipeline that logs each finished batch to disk before it continues; a trace must have all of them.

    made EPOCH BATCH PID       the worker has returned from the fetcher
    taken EPOCH BATCH          training has received it
"""
import argparse
import os

from torch.utils.data import DataLoader, Dataset

from runners.plain import Compose

BATCH_SIZE = 4


class Log:
    def __init__(self, path):
        self.path = path

    def write(self, line):
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, f"{line}\n".encode())
        os.fsync(file)
        os.close(file)


class Batch:
    """Logs `made` when it is pickled in the feeder thread, which is after the fetcher has returned."""

    def __init__(self, log, epoch, number, samples):
        self.content = (log, epoch, number, samples)

    def __reduce__(self):
        log, epoch, number, _ = self.content
        log.write(f"made {epoch} {number} {os.getpid()}")
        return Batch, self.content


def mix(data):
    return data[1:] + data[:1]


class Numbers(Dataset):
    epoch = 0

    def __init__(self, length, operations):
        self.length = length
        self.transform = Compose([mix] * operations)

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, self.epoch, self.transform(bytes(range(64)))


class Collate:
    def __init__(self, log):
        self.log = log

    def __call__(self, samples):
        index, epoch, _ = samples[0]
        return Batch(self.log, epoch, index // BATCH_SIZE, samples)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--operations", type=int, default=5, help="of each sample")
    options = parser.parse_args()
    log = Log(options.log)
    dataset = Numbers(BATCH_SIZE * options.batches, options.operations)
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, num_workers=options.workers, collate_fn=Collate(log))
    for epoch in range(options.epochs):
        dataset.epoch = epoch  # new workers are forked with it
        for number, _ in enumerate(loader):
            log.write(f"taken {epoch} {number}")


if __name__ == "__main__":
    main()
