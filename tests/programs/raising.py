"""A transform that raises for some samples; the dataset catches it and gives black pixels."""
import torch
import torchvision.transforms as T
from torch.utils.data import DataLoader, Dataset

import support
import timed
import truth
from truth import log, now


class RejectDark:
    """Raises where the image's mean is below the limit."""

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, tensor):
        start = now()
        try:
            if tensor.mean() < self.limit:
                raise ValueError("too dark")
            return tensor
        finally:
            log(f"op {start} {now()} RejectDark")


class Photographs(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.transform = T.Compose([timed.ToTensor(), RejectDark(0.3), timed.Normalize([0.5], [0.5])])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        start = now()
        image = timed.loader(self.paths[index])
        try:
            tensor = self.transform(image)
        except ValueError:
            log(f"raised {index}")
            tensor = torch.zeros(3, image.height, image.width)
        log(f"sample {start} {now()} {index}")
        return tensor


def main():
    options = support.arguments(__doc__)
    dataset = Photographs(support.photographs(options.data))
    loader = DataLoader(dataset, batch_size=options.batch_size, num_workers=options.workers,
                        collate_fn=timed.collate)
    for number, images in enumerate(truth.watch(loader)):
        support.show(number, images)


if __name__ == "__main__":
    main()
