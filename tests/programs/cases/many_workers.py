"""Far more workers than cores: 24 on a machine with two.

Sources: mteb#1331, YOLO-World#413.
"""
import os

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

import common


class Photos(Dataset):
    def __init__(self, directory):
        self.paths = sorted(directory.glob("*.jpg"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        photo = Image.open(self.paths[index]).convert("RGB").resize((224, 224))
        return torch.from_numpy(numpy.array(photo)).permute(2, 0, 1).float() / 255


def case(bad, data):
    torch.set_num_threads(1)
    cores = len(os.sched_getaffinity(0))
    loader = DataLoader(Photos(data / "thumbnails"), batch_size=16, num_workers=12 * cores if bad else cores,
                        shuffle=True)
    for _ in range(3):
        common.train(loader, step=0.005)


if __name__ == "__main__":
    common.main(case)
