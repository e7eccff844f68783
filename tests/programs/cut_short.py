"""A worker is killed inside an operation on one photograph, as the kernel does when memory runs out."""
import os
import signal

import torchvision.transforms as T
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed


class Greedy:
    def __call__(self, image):
        if max(image.size) > 2000:
            os.kill(os.getpid(), signal.SIGKILL)
        return image


def main():
    options = support.arguments(__doc__)
    dataset = ImageFolder(options.data, transform=T.Compose([Greedy(), *timed.imagenet().transforms]))
    loader = DataLoader(dataset, batch_size=options.batch_size, num_workers=options.workers)
    for number, (images, targets) in enumerate(loader):
        support.show(number, [images, targets])


if __name__ == "__main__":
    main()
