"""Image classification on a GPU, from pinned memory; --case selects the variant.

Prints each loss, which is the same in every run. Logs `synchronize START END` for each wait for the GPU.
"""
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.models import resnet18

import support
import timed
import truth


def loss_of(loss):
    start = truth.now()
    value = loss.item()
    truth.log(f"synchronize {start} {truth.now()}")
    return value


def train(options):
    dataset = ImageFolder(options.data, transform=timed.imagenet(), loader=timed.loader)
    truth.log(("paths", [path for path, _ in dataset.samples]))
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers, pin_memory=True,
                        collate_fn=timed.collate, multiprocessing_context=options.start_method)
    model = resnet18(num_classes=len(dataset.classes)).cuda()
    forward = torch.compile(model) if options.case == "compiled" else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(options.epochs):
        for number, (images, targets) in enumerate(truth.watch(loader, epoch=epoch)):
            assert images.is_pinned() and targets.is_pinned()
            images, targets = images.cuda(non_blocking=True), targets.cuda(non_blocking=True)
            loss = torch.nn.functional.cross_entropy(forward(images), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(epoch, number, f"{loss_of(loss):.6f}", flush=True)


def main():
    options = support.arguments(__doc__, epochs=2, case="plain")
    torch.use_deterministic_algorithms(True)
    if options.case != "profiled":
        return train(options)
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        train(options)
    events = profiler.events()
    print("kernels seen:", any(event.device_type == torch.autograd.DeviceType.CUDA for event in events))


if __name__ == "__main__":
    main()
