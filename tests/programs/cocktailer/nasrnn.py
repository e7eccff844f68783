"""NASRNN: the recurrent cell that Zoph and Le's search found (2017), in a loop over time steps."""
import torch
from torch import nn

import program

SIZES = {"paper": {"hidden": 256, "steps": 1000},
         "small": {"hidden": 32, "steps": 100}}


class NASCell(nn.Module):
    """Eight gates of input and state, joined in pairs by a tree; the cell's memory enters in the middle of it."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.from_input = nn.Linear(inputs, 8 * hidden)
        self.from_hidden = nn.Linear(hidden, 8 * hidden, bias=False)

    def forward(self, x, h, c):
        i = self.from_input(x).chunk(8, 1)
        m = self.from_hidden(h).chunk(8, 1)
        first = torch.sigmoid(i[0] + m[0]) * torch.relu(i[1] + m[1])
        second = torch.sigmoid(i[2] + m[2]) + torch.relu(i[3] * m[3])
        third = torch.tanh(i[4] + m[4]) * torch.sigmoid(i[5] + m[5])
        fourth = torch.tanh(i[6] + m[6]) + torch.sigmoid(i[7] + m[7])
        c = torch.tanh(torch.tanh(first) + c) * torch.tanh(second)
        return torch.tanh(c * torch.tanh(torch.tanh(third) + torch.sigmoid(fourth))), c


class NASRNN(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.hidden = hidden
        self.cell = NASCell(hidden, hidden)

    def forward(self, inputs):
        """inputs: (steps, batch, hidden). Returns the last state, (batch, hidden)."""
        h = inputs.new_zeros(inputs.shape[1], self.hidden)
        c = h
        for step in range(inputs.shape[0]):
            h, c = self.cell(inputs[step], h, c)
        return h


def make(options, hidden, steps):
    return NASRNN(hidden), (torch.randn(steps, options.batch, hidden),)


if __name__ == "__main__":
    program.main()
