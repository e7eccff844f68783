"""An IterableDataset of which each worker reads a share, as a generator or as an iterator class."""
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

import support
import timed
import truth
from truth import log, now


def share(paths):
    """This worker's share of the paths: every n-th one, for n workers."""
    info = get_worker_info()
    return paths if info is None else paths[info.id::info.num_workers]


class Generated(IterableDataset):
    def __init__(self, paths, transform):
        self.paths = paths
        self.transform = transform

    def __iter__(self):
        for path in share(self.paths):
            start = now()
            sample = self.transform(timed.loader(path))
            log(f"sample {start} {now()} {path}")
            yield sample


class Iterator:
    def __init__(self, paths, transform):
        self.paths = iter(paths)
        self.transform = transform

    def __iter__(self):
        return self

    def __next__(self):
        path = next(self.paths)
        start = now()
        sample = self.transform(timed.loader(path))
        log(f"sample {start} {now()} {path}")
        return sample


class Iterated(Generated):
    def __iter__(self):
        return Iterator(share(self.paths), self.transform)


def main():
    options = support.arguments(__doc__, epochs=2, kind="generator", pin=None)
    if options.pin:
        support.pretend_a_gpu()
    paths = support.photographs(options.data)
    kind = {"generator": Generated, "class": Iterated}[options.kind]
    loader = DataLoader(kind(paths, timed.imagenet()), batch_size=options.batch_size,
                        num_workers=options.workers, collate_fn=timed.collate, pin_memory=bool(options.pin))
    total = torch.zeros(())
    for epoch in range(options.epochs):
        for number, images in enumerate(truth.watch(loader, epoch=epoch)):
            total += images.mean()
            support.show(number, images, f"epoch {epoch}")
    print(f"mean {total.item():.6f}")


if __name__ == "__main__":
    main()
