"""A pipeline with configurable costs and loader settings, run by bench/whatif/compare.

With --data, it loads and crops photographs; without, all operations sleep, so that two cores suffice for any
number of workers. A training step sleeps, like one on a GPU, or computes with --compute. Prints its own
measurements: images/s, and the percentage of time spent in the loader.
"""
import argparse
import random
import time

import torch
from torch.utils.data import DataLoader, Dataset

SAMPLES = 8  # per batch


class Decode:
    """Takes 0.5 to 1.5 times `mean` seconds, depending on the sample."""

    def __init__(self, mean):
        self.mean = mean

    def __call__(self, sample):
        index, tensor = sample
        time.sleep(self.mean * random.Random(index).uniform(0.5, 1.5))
        return index, tensor


class Augment:
    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, sample):
        time.sleep(self.seconds)
        return sample


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, sample):
        for transform in self.transforms:
            sample = transform(sample)
        return sample


class Sleeping(Dataset):
    def __init__(self, length, transform):
        self.length, self.transform = length, transform

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.transform((index, torch.zeros(3, 32, 32)))[1]


def photographs(directory):
    import torchvision.transforms as T
    from torchvision.datasets import ImageFolder
    return ImageFolder(directory, T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ToTensor(),
                                             T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]))


def computing(turns):
    """A training step with a fixed amount of computation."""
    weights = torch.randn(64 << 10, requires_grad=True)  # not a matrix: a BLAS may use threads

    def step(factor):
        for _ in range(turns * factor):
            weights.tanh().mean().backward()
            weights.grad = None

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="an ImageFolder tree")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--prefetch", type=int, default=2)
    parser.add_argument("--in-order", default="true")
    parser.add_argument("--persistent", action="store_true")
    parser.add_argument("--batches", type=int, default=60, help="of an epoch")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--decode", type=float, default=5, help="ms of a sample")
    parser.add_argument("--augment", type=float, default=5, help="ms of a sample")
    parser.add_argument("--step", type=float, default=20, help="ms of a training step")
    parser.add_argument("--compute", type=int, metavar="TURNS", help="it computes this often, instead")
    parser.add_argument("--every", type=int, default=0, help="each so-manyth step takes ten times as long")
    options = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    more = {}
    if options.workers:
        more = {"prefetch_factor": options.prefetch, "persistent_workers": options.persistent}
    if options.in_order == "false":
        more["in_order"] = False
    if options.data:
        dataset = photographs(options.data)
    else:
        transforms = [Decode(options.decode / 1e3), Augment(options.augment / 1e3)]
        dataset = Sleeping(SAMPLES * options.batches, Compose(transforms))
    loader = DataLoader(dataset, batch_size=SAMPLES, shuffle=True, num_workers=options.workers, **more)
    step = computing(options.compute) if options.compute else lambda factor: time.sleep(options.step / 1e3 * factor)
    begin, stepping = time.perf_counter(), 0
    for _ in range(options.epochs):
        for number, _ in enumerate(loader):
            slow = options.every and number % options.every == options.every - 1
            before = time.perf_counter()
            step(10 if slow else 1)
            stepping += time.perf_counter() - before
    whole = time.perf_counter() - begin
    print(options.epochs * len(dataset) / whole, 100 * (1 - stepping / whole))


if __name__ == "__main__":
    main()
