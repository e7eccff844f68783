"""Makes a batch before the program begins, so that every Python with this directory in its path records."""
from torch.utils.data import DataLoader

list(DataLoader([1, 2], num_workers=0))
