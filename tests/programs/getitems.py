"""A dataset with __getitems__, which returns a whole batch at once."""
import torch
from torch.utils.data import DataLoader, Dataset

import support
import timed
import truth
from truth import log, now


class Photographs(Dataset):
    def __init__(self, paths, transform):
        self.paths = paths
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.transform(timed.loader(self.paths[index]))

    def __getitems__(self, indices):
        start = now()
        samples = [self.transform(timed.loader(self.paths[index])) for index in indices]
        log(f"samples {start} {now()} {indices}")
        return samples


def main():
    options = support.arguments(__doc__)
    dataset = Photographs(support.photographs(options.data), timed.imagenet())
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers,
                        generator=torch.Generator().manual_seed(1), collate_fn=timed.collate)
    for number, images in enumerate(truth.watch(loader)):
        support.show(number, images)


if __name__ == "__main__":
    main()
