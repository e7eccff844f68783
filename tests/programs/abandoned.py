"""A training loop that leaves each epoch half way."""
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed
import truth


def main():
    options = support.arguments(__doc__, epochs=3)
    dataset = ImageFolder(options.data, transform=timed.imagenet(), loader=timed.loader)
    truth.log(("paths", [path for path, _ in dataset.samples]))
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers,
                        collate_fn=timed.collate)
    for epoch in range(options.epochs):
        for number, (images, targets) in enumerate(truth.watch(loader, epoch=epoch)):
            support.show(number, [images, targets], f"epoch {epoch}")
            if number == 3:
                break
    truth.flush()


if __name__ == "__main__":
    main()
