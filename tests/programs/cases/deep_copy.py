"""A sample's big annotations are copied with copy.deepcopy before they are changed.

Source: detectron2#939.
"""
import copy

import torch
from torch.utils.data import DataLoader, Dataset

import common


def annotation(category):
    polygon = [float(point) for point in range(240)]
    return {"bbox": [1.0, 2.0, 3.0, 4.0], "category_id": category, "segmentation": [polygon]}


class Coco(Dataset):
    def __init__(self, deep):
        self.deep = deep
        self.index = [{"file_name": f"{number}.jpg", "image_id": number,
                       "annotations": [annotation(category) for category in range(60)]} for number in range(400)]

    def __len__(self):
        return 1200

    def __getitem__(self, index):
        record = self.index[index % 400]
        record = copy.deepcopy(record) if self.deep else dict(record)
        boxes = torch.tensor([annotation["bbox"] for annotation in record["annotations"]])
        return torch.zeros(3, 96, 96) + 0.5, boxes


def case(bad, _):
    common.train(DataLoader(Coco(deep=bad), batch_size=16, num_workers=2, shuffle=True), step=0.004)


if __name__ == "__main__":
    common.main(case)
