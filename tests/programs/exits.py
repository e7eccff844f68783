"""Training that ends before its time, in one of several ways, at the fifth batch of the second epoch."""
import os
import signal
import sys
import time

from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

import support
import timed


def end(how, a_worker):
    if how == "exception":
        raise ValueError("training diverged")
    if how == "exit":
        sys.exit(3)
    if how == "_exit":
        os._exit(4)
    if how == "interrupt":
        os.killpg(0, signal.SIGINT)
        time.sleep(60)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "kill-worker":
        os.kill(a_worker(), signal.SIGKILL)
        time.sleep(60)  # PyTorch's handler of SIGCHLD raises here


def main():
    options = support.arguments(__doc__, epochs=2, how="exception")
    # A worker that is the program's own child is missed at once, in the sleep; one of a server (Python 3.14's default)
    # at a batch that depends on how far it had come: loaders.py, killed.
    started = "fork" if options.how == "kill-worker" else None
    dataset = ImageFolder(options.data, transform=timed.imagenet(), loader=timed.loader)
    loader = DataLoader(dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.workers,
                        collate_fn=timed.collate, multiprocessing_context=started)
    for epoch in range(options.epochs):
        iterator = iter(loader)
        for number, (images, targets) in enumerate(iterator):
            support.show(number, [images, targets], f"epoch {epoch}")
            if (epoch, number) == (1, 4):
                end(options.how, lambda: iterator._workers[0].pid)


if __name__ == "__main__":
    main()
