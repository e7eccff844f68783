"""Each of four workers has a pool of 16 threads, as OpenCV and PyTorch make them on a machine with 16 cores.

Sources: Hy2DL#48, mmdetection#6867, mmdetection#3306.
"""
import functools

import cv2
import torch
from torch.utils.data import DataLoader, Dataset

import common


class Photos(Dataset):
    def __init__(self, directory):
        self.paths = sorted(directory.glob("*.jpg"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        photo = cv2.resize(cv2.imread(str(self.paths[index])), (512, 512))
        photo = cv2.GaussianBlur(photo, (0, 0), 3)
        photo = torch.from_numpy(photo).permute(2, 0, 1).float() / 255
        photo = (photo - photo.mean((1, 2), keepdim=True)) / photo.std((1, 2), keepdim=True)
        return torch.nn.functional.interpolate(photo[None], size=224, mode="bilinear", align_corners=False)[0]


def set_threads(count, _):
    torch.set_num_threads(count)
    cv2.setNumThreads(count)


def case(bad, data):
    threads = 16 if bad else 1
    cv2.setNumThreads(threads)
    init = functools.partial(set_threads, threads)
    loader = DataLoader(Photos(data / "photos"), batch_size=16, num_workers=4, worker_init_fn=init, shuffle=True)
    common.train(loader, step=0.005)


if __name__ == "__main__":
    common.main(case)
