from ._utils.collate import default_collate
from ._utils.worker import get_worker_info
from .dataloader import DataLoader, _DatasetKind
from .dataset import ConcatDataset, Dataset, IterableDataset, Subset
from .sampler import BatchSampler, RandomSampler, SequentialSampler

__all__ = ["BatchSampler", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler",
           "SequentialSampler", "Subset", "_DatasetKind", "default_collate", "get_worker_info"]
