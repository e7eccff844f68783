"""LSTM: time steps outside, layers inside, a cell of plain operators."""
import torch
from torch import nn

import program

SIZES = {"paper": {"layers": 10, "hidden": 256, "steps": 64},
         "small": {"layers": 4, "hidden": 32, "steps": 32}}


class Cell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.from_input = nn.Linear(inputs, 4 * hidden)
        self.from_hidden = nn.Linear(hidden, 4 * hidden, bias=False)

    def forward(self, x, h, c):
        i, f, g, o = (self.from_input(x) + self.from_hidden(h)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class LSTM(nn.Module):
    def __init__(self, layers, hidden):
        super().__init__()
        self.hidden = hidden
        self.cells = nn.ModuleList([Cell(hidden, hidden) for _ in range(layers)])

    def forward(self, inputs):
        """inputs: (steps, batch, hidden). Returns the last layer's outputs, (steps, batch, hidden)."""
        h = [inputs.new_zeros(inputs.shape[1], self.hidden)] * len(self.cells)
        c = list(h)
        outputs = []
        for step in range(inputs.shape[0]):
            x = inputs[step]
            for layer, cell in enumerate(self.cells):
                x, c[layer] = cell(x, h[layer], c[layer])
                h[layer] = x
            outputs.append(x)
        return torch.stack(outputs)


def make(options, layers, hidden, steps):
    return LSTM(layers, hidden), (torch.randn(steps, options.batch, hidden),)


if __name__ == "__main__":
    program.main()
