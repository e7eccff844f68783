"""Data-parallel training on CPUs with gloo; the data of one rank can be slow.

    torchrun --standalone --nproc_per_node 2 ranks.py --slow 1
    ranks.py --launch 2 --slow 1       starts its ranks by itself
"""
import os
import socket
import time

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

import made
import support
from truth import log, now


class Read:
    """Reads as from a local disk of the rank's machine."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, sample):
        start = now()
        time.sleep(self.seconds)
        log(f"op {start} {now()} Read")
        return sample


def train(options):
    rank, slow = distributed.get_rank(), int(options.slow)
    dataset = made.Tensors(64)
    dataset.transform.transforms.insert(0, Read(0.15 if rank == slow else 0))
    loader = DataLoader(dataset, batch_size=4, num_workers=options.workers, sampler=DistributedSampler(dataset),
                        multiprocessing_context=options.start_method)
    model = DistributedDataParallel(nn.Sequential(nn.Flatten(), nn.Linear(64 * 64, 8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(options.epochs):
        loader.sampler.set_epoch(epoch)
        total = torch.zeros(())
        for images, indices in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), indices % 8)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        distributed.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch} loss {total.item():.6f}", flush=True)


def launched(rank, options):
    """Trains in a process that this program started: only the arguments contain the rank."""
    torch.manual_seed(7)
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=options.meeting, rank=rank, world_size=int(options.launch))
    train(options)
    distributed.destroy_process_group()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    options = support.arguments(__doc__, slow="-1", launch=None)
    if options.launch is None:
        distributed.init_process_group("gloo")
        train(options)
        distributed.destroy_process_group()
        return
    options.meeting = f"tcp://127.0.0.1:{free_port()}"
    torch.multiprocessing.start_processes(launched, (options,), int(options.launch), start_method="spawn")


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    main()
