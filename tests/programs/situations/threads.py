"""More threads than cores: each worker has a pool of its own."""
import concurrent.futures
import functools
import zlib

import common
import torch
from torch.utils.data import DataLoader, Dataset


class Blurred(Dataset):
    """Works with PyTorch's pool of threads."""

    def __init__(self):
        self.photo = torch.rand(1, 3, 512, 512)

    def __len__(self):
        return 256

    def __getitem__(self, index):
        photo = self.photo * 0.9
        photo = (photo - photo.mean()) / photo.std()
        return torch.nn.functional.interpolate(photo, size=224, mode="bilinear", align_corners=False)[0]


def set_threads(count, _):
    torch.set_num_threads(count)


def pool_of_torch(bad):
    init = functools.partial(set_threads, 16 if bad else 1)
    common.train(DataLoader(Blurred(), 8, num_workers=4, worker_init_fn=init))


class Unpacked(Dataset):
    """Unpacks the parts of a sample in threads of its own."""

    def __init__(self, threads):
        self.threads, self.pool = threads, None
        self.parts = [zlib.compress(bytes(range(256)) * 2000) for _ in range(16)]

    def __len__(self):
        return 480

    def __getitem__(self, index):
        if self.threads == 0:
            return self.whole(map(zlib.decompress, self.parts))
        self.pool = self.pool or concurrent.futures.ThreadPoolExecutor(self.threads)
        return self.whole(self.pool.map(zlib.decompress, self.parts))

    def whole(self, parts):
        return torch.tensor([len(part) for part in parts])


def pool_of_its_own(bad):
    common.train(DataLoader(Unpacked(16 if bad else 0), 8, num_workers=4))


if __name__ == "__main__":
    common.main(pool_of_torch, pool_of_its_own)
