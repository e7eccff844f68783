"""Training whose parameters have several kinds and sizes, each used on a line of its own: memory_forms.py

Prints as JSON, of the last step: "forms": data pointer → kind and sizes of each parameter, batch and result; "gradients": data
pointer → the line on which the parameter was used; "asked": how often a tensor of a subclass was asked what it is.
"""
import inspect
import json

import torch
from torch import nn

STEPS = 8
used_at, asked = {}, 0


class Asked(torch.Tensor):
    """Whoever asks it for something runs this program's code."""

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        global asked
        asked += 1
        return super().__torch_function__(function, types, arguments, keywords or {})


def note(parameter):
    used_at[parameter] = inspect.currentframe().f_back.f_lineno
    return parameter


def forward(x, parameters):
    first, scale, last, many = parameters
    x = x.matmul(note(first))
    x = torch.tanh(x)
    x = x * note(scale)
    x = x.double().matmul(note(last))
    return (x.float().view(-1, 2, 2, 2, 3, 1, 2) * note(many)).sum()


torch.manual_seed(0)
torch.set_num_threads(1)
parameters = [nn.Parameter(torch.randn(24, 40)), nn.Parameter(torch.randn(1, 40)), nn.Parameter(torch.randn(40, 48).double()),
              nn.Parameter(torch.randn(2, 2, 2, 3, 1, 2))]
optimizer = torch.optim.SGD(parameters, lr=1e-3)
other = torch.randn(8, 3).as_subclass(Asked)
batch = torch.randn(16, 24)
for step in range(STEPS):
    optimizer.zero_grad(set_to_none=True)
    forward(batch, parameters).backward()
    other.add(1)
    gradients = {parameter.grad.data_ptr(): used_at[parameter] for parameter in parameters}
    optimizer.step()
forms = {tensor.data_ptr(): [str(tensor.dtype).rpartition(".")[2], list(tensor.shape)] for tensor in (batch, *parameters)}
print(json.dumps({"forms": forms, "gradients": gradients, "asked": asked, "steps": STEPS}))
