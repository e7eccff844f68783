"""Branches that are tested on data and yet always have the same outcome, so that runs can be compared."""
import torch

SURE = 5e5  # so much more than any gate's output that it decides


def executed(share, blocks):
    """Which of the blocks run for a share in percent: the nearest number of them, spread evenly. A list of bool."""
    count = int(share * blocks / 100 + 0.5)
    return [(block + 1) * count // blocks > block * count // blocks for block in range(blocks)]


def pin(share, blocks):
    """What is added to the gates' outputs before they are compared with 0: (blocks,)."""
    return torch.tensor([SURE if runs else -SURE for runs in executed(share, blocks)])
