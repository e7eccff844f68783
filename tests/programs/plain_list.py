"""A dataset that calls the callables in a plain list one after the other."""
from torch.utils.data import DataLoader, Dataset

import support
import timed
import truth
from truth import log, now


class Photographs(Dataset):
    def __init__(self, paths, transforms):
        self.paths = paths
        self.transforms = transforms

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        start = now()
        sample = self.paths[index]
        for transform in self.transforms:
            sample = transform(sample)
        log(f"sample {start} {now()} {index}")
        return sample


def read(path):
    start = now()
    image = timed.pil_loader(path)
    log(f"op {start} {now()} read")
    return image


def main():
    options = support.arguments(__doc__)
    steps = [read, timed.RandomResizedCrop(128), timed.ToTensor(), timed.Normalize([0.5], [0.5])]
    loader = DataLoader(Photographs(support.photographs(options.data), steps), num_workers=options.workers,
                        batch_size=options.batch_size, collate_fn=timed.collate)
    for number, images in enumerate(truth.watch(loader)):
        support.show(number, images)


if __name__ == "__main__":
    main()
