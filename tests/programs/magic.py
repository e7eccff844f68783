"""A notebook's shell, as far as a cell magic sees it: one cell that trains, with `%%lotus` above it."""
import sys

import lotus_trace

CELL = """
import torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return torch.full((1000,), float(index)).cumsum(0)

total = sum(batch.sum().item() for batch in DataLoader(Numbers(), batch_size=8))
print("total", total)
"""


class Outcome:
    success = True


class Shell:
    def register_magic_function(self, function, magic_kind, magic_name):
        assert (magic_kind, magic_name) == ("cell", "lotus")
        self.magic = function

    def run_cell(self, cell):
        exec(cell, {"__name__": "__main__"})
        return Outcome


shell = Shell()
lotus_trace.load_ipython_extension(shell)
shell.magic(" ".join(sys.argv[1:]), CELL)
