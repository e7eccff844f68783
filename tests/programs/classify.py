"""A small version of PyTorch's ImageNet example."""
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed
import truth


def main():
    options = support.arguments(__doc__, epochs=3)
    dataset = ImageFolder(options.data, transform=timed.imagenet(), loader=timed.loader)
    truth.log(("paths", [path for path, _ in dataset.samples]))
    training = support.Training()
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers,
                        collate_fn=timed.collate, multiprocessing_context=options.start_method)
    for epoch in range(options.epochs):
        for number, (images, targets) in enumerate(truth.watch(loader, epoch=epoch)):
            loss = training.step(images, targets)
            support.show(number, images, f"epoch {epoch} loss {loss:.6f}")


if __name__ == "__main__":
    main()
