"""A dataset that keeps a list of callables; its samples are dictionaries."""
from torch.utils.data import Dataset


class Samples(Dataset):
    def __init__(self, length, transforms):
        self.length, self.transforms = length, transforms

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        sample = {"index": index}
        for transform in self.transforms:
            sample = transform(sample)
        return sample
