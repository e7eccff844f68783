"""Object detection as in torchvision's references: photographs with boxes, padded to the largest one.

    detect.py --data DIRECTORY

DIRECTORY has photographs and their annotations by labelme, *.json; an epoch is all of them.
"""
import json
import pathlib

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import functional

import support
from runners.plain import Compose

SHORTER_SIDE = (320, 480)


class Load:
    def __call__(self, path):
        annotation = json.loads(path.read_text())
        image = Image.open(path.parent / annotation["imagePath"]).convert("RGB")
        boxes = [sum(shape["points"], []) for shape in annotation["shapes"] if shape["shape_type"] == "rectangle"]
        return image, torch.tensor(boxes)


class Resize:
    """Resizes to a random size."""

    def __call__(self, sample):
        image, boxes = sample
        shorter = int(torch.randint(*SHORTER_SIDE, (1,)))
        resized = functional.resize(image, shorter)
        return resized, boxes * (resized.width / image.width)


class RandomHorizontalFlip:
    def __call__(self, sample):
        image, boxes = sample
        if torch.rand(1) < 0.5:
            boxes = boxes.clone()
            boxes[:, [0, 2]] = image.width - boxes[:, [2, 0]]
            image = functional.hflip(image)
        return image, boxes


class ToTensor:
    def __call__(self, sample):
        return functional.to_tensor(sample[0]), sample[1]


class Normalize:
    def __call__(self, sample):
        return functional.normalize(sample[0], [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]), sample[1]


class BatchCollator:
    """Pads the images with zeros to the largest one."""

    def __call__(self, samples):
        images, boxes = zip(*samples)
        shape = [max(sizes) for sizes in zip(*(image.shape for image in images))]
        batch = torch.zeros(len(images), *shape)
        for image, place in zip(images, batch):
            place[:, : image.shape[1], : image.shape[2]].copy_(image)
        return batch, list(boxes)


class Photographs(Dataset):
    def __init__(self, paths, transform):
        self.paths, self.transform = paths, transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.transform(self.paths[index])


def main():
    options = support.arguments(__doc__, batch_size=2, epochs=100)
    paths = options.epochs * sorted(pathlib.Path(options.data).glob("*.json"))
    transform = Compose([Load(), Resize(), RandomHorizontalFlip(), ToTensor(), Normalize()])
    loader = DataLoader(Photographs(paths, transform), batch_size=options.batch_size, num_workers=options.workers,
                        multiprocessing_context=options.start_method, collate_fn=BatchCollator())
    for number, batch in enumerate(loader):
        support.show(number, batch)


if __name__ == "__main__":
    main()
