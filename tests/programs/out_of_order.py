"""One worker sleeps in every sample, so that the batches of the other one always arrive out of order."""
import time

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

import support
import timed
import truth
from truth import log, now


class Numbers(Dataset):
    """Worker 0 needs 20 ms for a sample, the others 1 ms."""

    def __len__(self):
        return 80

    def __getitem__(self, index):
        start = now()
        info = get_worker_info()
        time.sleep(0.02 if info is None or info.id == 0 else 0.001)
        log(f"sample {start} {now()} {index}")
        return torch.full((8, 8), index)


def main():
    options = support.arguments(__doc__, batch_size=4)
    loader = DataLoader(Numbers(), batch_size=options.batch_size, num_workers=options.workers,
                        collate_fn=timed.collate)
    for epoch in range(options.epochs):
        for number, batch in enumerate(truth.watch(loader, epoch=epoch)):
            support.show(number, batch, f"epoch {epoch}")


if __name__ == "__main__":
    main()
