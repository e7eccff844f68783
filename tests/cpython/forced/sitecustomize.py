"""Makes every Python with this directory in its path one that is traced: a batch is made before its program begins."""
from torch.utils.data import DataLoader

list(DataLoader([1, 2], num_workers=0))
