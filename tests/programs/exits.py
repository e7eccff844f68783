"""Training that ends early, at the fifth batch of the second epoch, in one of several ways."""
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
    # PyTorch notices the death of a forked worker at once, in the sleep. That of a fork server's worker
    # (default in Python 3.14) it notices at a batch that varies; see killed() in loaders.py.
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
