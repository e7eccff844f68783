"""Errors and ends everywhere in a pipeline, at once and later: prints what the training loop sees of each."""
import gc
import time

from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler, get_worker_info


class Planned(Exception):
    pass


class Maps(Dataset):
    def __init__(self, bad):
        self.bad = bad

    def __len__(self):
        return 24

    def __getitem__(self, index):
        time.sleep(0.002)
        if index == self.bad:
            raise Planned(f"sample {index}")
        return index


class Ends(IterableDataset):
    """Its workers have as many samples as their number says: the first one none."""

    def __init__(self, samples, error=False):
        self.samples, self.error = samples, error

    def __iter__(self):
        info = get_worker_info()
        for index in range(self.samples * (info.id if info else 1)):
            time.sleep(0.003)
            yield index
        if self.error:
            raise Planned("stream")


class Draws(Sampler):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return 24

    def __iter__(self):
        yield from range(self.count)
        raise Planned("sampler")


class Length(Maps):
    def __len__(self):
        time.sleep(0.001)
        raise Planned("length")


def collate(samples):
    if 13 in samples:
        raise Planned("collate")
    return samples


def seen(loader, length=False):
    """What came, and how it ended."""
    gc.collect()  # workers inherit no iterator that an error kept alive: they would wait for its workers
    batches = []
    try:
        for batch in loader:
            batches.append([int(sample) for sample in batch])
            if length:
                len(loader.dataset)
    except Exception as error:
        text = [line for line in str(error).splitlines() if "Planned" in line]
        return sorted(batches), type(error).__name__, text
    return sorted(batches), "end", []


def main():
    for workers in (0, 2):  # an error in a worker takes PyTorch some seconds
        for bad in (0, 13) if workers == 0 else (0,):
            print(workers, "item", bad, *seen(DataLoader(Maps(bad), 4, num_workers=workers)))
        for samples in (0, 1, 9):
            print(workers, "stream", samples, *seen(DataLoader(Ends(samples), 4, num_workers=workers)))
            if workers == 0:  # else PyTorch 1.13 hangs now and then, with and without Lotus
                print(workers, "broken stream", samples, *seen(DataLoader(Ends(samples, True), 4))[1:])
        for count in (0, 9) if workers == 0 else ():  # the same
            print(workers, "sampler", count, *seen(DataLoader(Maps(-1), 4, sampler=Draws(count)))[1:])
        print(workers, "collate", *seen(DataLoader(Maps(-1), 4, num_workers=workers, collate_fn=collate)))
        if workers == 0:  # the same
            print(workers, "length", *seen(DataLoader(Length(-1), 4, sampler=range(8)), length=True)[1:])


main()
