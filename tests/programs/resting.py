"""One epoch, then idle until stdin ends, like a notebook."""
import argparse
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--persistent", action="store_true")
    options = parser.parse_args()
    loader = DataLoader(TensorDataset(torch.zeros(40, 3)), 4, num_workers=2, persistent_workers=options.persistent)
    batches = iter(loader)
    for _ in batches:
        pass
    print("over", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
