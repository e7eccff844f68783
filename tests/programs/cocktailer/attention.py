"""Attention: a decoder's loop over positions, each of which attends to all before it through a cache of keys and values."""
import torch
from torch import nn

import program

SIZES = {"paper": {"heads": 12, "width": 64, "first": 32, "end": 64},
         "small": {"heads": 4, "width": 16, "first": 32, "end": 64}}


class Attention(nn.Module):
    def __init__(self, heads, width, end):
        super().__init__()
        self.heads, self.width, self.end = heads, width, end
        self.query = nn.Linear(heads * width, heads * width)
        self.key = nn.Linear(heads * width, heads * width)
        self.value = nn.Linear(heads * width, heads * width)
        self.output = nn.Linear(heads * width, heads * width)

    def split(self, x):
        """(batch, heads * width) to (batch, heads, 1, width)."""
        return x.view(-1, self.heads, 1, self.width)

    def forward(self, x, keys, values):
        """x: (batch, heads * width), the newest position; keys, values: (batch, heads, positions, width), before it.

        Returns the last position's output.
        """
        first = keys.shape[2]
        room = keys.new_zeros(keys.shape[0], self.heads, self.end - first, self.width)
        keys, values = torch.cat([keys, room], 2), torch.cat([values, room], 2)
        for position in range(first, self.end):
            keys[:, :, position:position + 1] = self.split(self.key(x))
            values[:, :, position:position + 1] = self.split(self.value(x))
            scores = torch.matmul(self.split(self.query(x)), keys[:, :, :position + 1].transpose(2, 3))
            shares = torch.softmax(scores / self.width ** 0.5, 3)
            x = self.output(torch.matmul(shares, values[:, :, :position + 1]).reshape(x.shape))
        return x


def make(options, heads, width, first, end):
    keys, values = torch.randn(2, options.batch, heads, first, width)
    return Attention(heads, width, end), (torch.randn(options.batch, heads * width), keys, values)


if __name__ == "__main__":
    program.main()
