"""Samples of different sizes, which a custom collate function pads and combines."""
import torch
from torch.nn.functional import pad
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed
import truth
from truth import log, now


def crop_to_class(sample):
    """Crops each class to a different height."""
    image, target = sample
    return image[:, : 100 + 20 * target, :], target


def pad_and_stack(samples):
    start = now()
    cropped = [crop_to_class(sample) for sample in samples]
    height = max(image.shape[1] for image, _ in cropped)
    images = torch.stack([pad(image, (0, 0, 0, height - image.shape[1])) for image, _ in cropped])
    batch = {"images": images, "heights": torch.tensor([image.shape[1] for image, _ in cropped]),
             "targets": torch.tensor([target for _, target in cropped])}
    log(f"op {start} {now()} Collation")
    return batch


def main():
    options = support.arguments(__doc__)
    dataset = ImageFolder(options.data, transform=timed.imagenet(), loader=timed.loader)
    truth.log(("paths", [path for path, _ in dataset.samples]))
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers,
                        collate_fn=pad_and_stack)
    for number, batch in enumerate(truth.watch(loader)):
        support.show(number, batch, tuple(batch["images"].shape))


if __name__ == "__main__":
    main()
