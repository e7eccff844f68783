"""Pinned memory asked for on a machine without a GPU: PyTorch warns and goes on.

--pretend 1: PyTorch takes the machine for one with a GPU, and its own pin thread runs; there to pin is to copy.
"""
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed
import truth

ANSWERS = {"is_available": True, "current_device": 0, "current_device_index": 0, "set_device": None, "set_device_index": None,
           "current_accelerator": torch.device("cuda")}


def pretend_a_gpu():
    for module in (torch.cuda, getattr(torch, "accelerator", None)):
        for name, answer in ANSWERS.items():
            if hasattr(module, name):
                setattr(module, name, lambda *_, answer=answer, **__: answer)
    torch.Tensor.pin_memory = lambda tensor, *_: tensor.clone()


def main():
    options = support.arguments(__doc__, pretend=None, persistent=None)
    if options.pretend:
        pretend_a_gpu()
    dataset = ImageFolder(options.data, transform=timed.imagenet(), loader=timed.loader)
    truth.log(("paths", [path for path, _ in dataset.samples]))
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers,
                        pin_memory=True, persistent_workers=bool(options.persistent), collate_fn=timed.collate)
    for epoch in range(options.epochs):
        for number, (images, targets) in enumerate(truth.watch(loader, epoch=epoch)):
            support.show(number, [images, targets])


if __name__ == "__main__":
    main()
