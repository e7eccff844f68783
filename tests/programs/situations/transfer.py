"""Moving batches from workers to training is what takes the time."""
import common
import numpy
import torch
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __init__(self, count):
        self.volume, self.count = numpy.random.rand(1, 80, 80, 80).astype(numpy.float32), count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.volume + numpy.float32(index)


def as_arrays(batch):
    return {"image": numpy.stack(batch), "twice": numpy.stack(batch)}


def as_tensors(batch):
    image = torch.stack([torch.from_numpy(array) for array in batch])
    return {"image": image, "twice": image}


def arrays_through_a_pipe(bad):
    loader = DataLoader(Volumes(240), 8, num_workers=2, collate_fn=as_arrays if bad else as_tensors)
    common.train(loader, step=0.005)


class Boxes(Dataset):
    """Annotations as Python objects, or as tensors."""

    def __init__(self, objects):
        self.objects = objects
        self.boxes = torch.arange(4.0 * 4000).reshape(4000, 4)
        self.listed = [{"box": box, "label": 3} for box in self.boxes.tolist()]

    def __len__(self):
        return 400

    def __getitem__(self, index):
        return self.listed if self.objects else self.boxes

    @staticmethod
    def copied(batch):
        return [[dict(box) for box in sample] for sample in batch]


def objects_through_a_pipe(bad):
    loader = DataLoader(Boxes(bad), 8, num_workers=2, collate_fn=Boxes.copied if bad else torch.stack)
    common.train(loader, step=0.005)


class Fields(Dataset):
    """A batch of many small tensors, each of which is a file of its own for the moment."""

    def __init__(self, fields):
        self.fields = fields

    def __len__(self):
        return 400

    def __getitem__(self, index):
        return torch.full((512,), float(index))


def apart(batch):
    return {f"field {number}": column.clone() for number, column in enumerate(torch.stack(batch).T)}


def many_small_tensors(bad):
    loader = DataLoader(Fields(512), 8, num_workers=2, collate_fn=apart if bad else torch.stack)
    common.train(loader, step=0.004)


if __name__ == "__main__":
    common.main(arrays_through_a_pipe, objects_through_a_pipe, many_small_tensors)
