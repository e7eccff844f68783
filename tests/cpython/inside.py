"""Runs CPython's `python -m test` inside a sample of a loader, so that all its frames belong to an operation.

Arguments and exit code are those of `python -m test`.
"""
import sys

from torch.utils.data import DataLoader, Dataset


def run_tests():
    from test.libregrtest import main

    try:
        main()
    except SystemExit as error:
        return error.code
    return 0


class Tests(Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return run_tests()


if __name__ == "__main__":
    for code in DataLoader(Tests(), batch_size=None, num_workers=0):
        sys.exit(code)
