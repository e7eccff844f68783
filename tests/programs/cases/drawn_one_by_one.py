"""The sampler sorts all weights again for every 500 indices, in the training process, while workers wait for work.

Sources: imbalanced-dataset-sampler#21, pytorch#32221, pytorch#50689.
"""
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

import common

COUNT, DRAWN, AT_ONCE = 600_000, 60_000, 500


class Tiny(Dataset):
    def __init__(self):
        self.rows = torch.randn(2000, 32)

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return self.rows[int(index) % 2000]


class Balanced(Sampler):
    def __init__(self, labels, anew):
        self.weights = torch.tensor([1 / (1 + label) for label in labels])
        self.sums = torch.cumsum(self.weights, 0)
        self.indices, self.anew = list(range(len(labels))), anew

    def __len__(self):
        return DRAWN

    def __iter__(self):
        if self.anew:
            return self.one_by_one()
        # What is the same for each epoch is done once: a draw takes some ms, on a busy machine, too.
        places = torch.searchsorted(self.sums, torch.rand(DRAWN) * self.sums[-1])
        return iter(places.clamp(max=COUNT - 1).tolist())

    def one_by_one(self):
        for _ in range(DRAWN // AT_ONCE):
            weights = torch.sort(self.weights / self.weights.sum())[0]
            for index in torch.multinomial(weights, AT_ONCE, replacement=True):
                yield self.indices[index]


def case(bad, _):
    sampler = Balanced(torch.randint(0, 10, (COUNT,)).tolist(), anew=bad)
    loader = DataLoader(Tiny(), batch_size=AT_ONCE, num_workers=2, sampler=sampler)
    for _ in range(2):
        common.train(loader, step=0.002)


if __name__ == "__main__":
    common.main(case)
