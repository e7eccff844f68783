"""Training that takes batches in turn from 3,000 small sources, each with a loader of its own."""
from torch.utils.data import DataLoader

loaders = [DataLoader([1, 2, 3, 4], batch_size=2) for source in range(3000)]
for batches in zip(*map(iter, loaders)):
    pass
