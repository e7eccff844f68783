"""torchdata.nodes: a sampler, a mapper in threads, batches, and a thread that fetches ahead."""
import sys

import torch
import torchdata.nodes as tn
from torch.utils.data import RandomSampler, default_collate
from torchvision import datasets, transforms

import clock
import material

clock.watch(transforms.RandomResizedCrop, transforms.Normalize)


def main():
    torch.manual_seed(1)
    transform = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor(),
                                    transforms.Normalize([0.5] * 3, [0.25] * 3)])
    photos = datasets.ImageFolder(material.photos(sys.argv[1]), transform)

    def load(index):
        start = clock.now()
        sample = photos[index]
        clock.tell("load", start)
        return sample

    node = tn.SamplerWrapper(RandomSampler(photos))
    node = tn.ParallelMapper(node, load, num_workers=2, method="thread")
    node = tn.Batcher(node, batch_size=8)
    node = tn.Mapper(node, default_collate)
    loader = tn.Loader(tn.Prefetcher(node, prefetch_factor=2))
    clock.train(loader, lambda batch: len(batch[0]))


if __name__ == "__main__":
    main()
