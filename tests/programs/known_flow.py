"""Models whose control flow is known beforehand, for LOTUS_REGION=call; prints hashes of what the calls returned. Another
thread calls the same function meanwhile.

    known_flow.py straight|traced|looped|planted|helpers [calls]
"""
import hashlib
import sys
import threading

import torch
from torch import nn


def busy(count):
    total = 0
    for i in range(count):
        total += i * i
    return total


class Straight(nn.Module):
    """Large products of matrices, one after the other."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(600, 600) for _ in range(3))

    def forward(self, x):
        return self.c(torch.relu(self.b(torch.relu(self.a(x)))))


class Looped(nn.Module):
    """Small work in a loop; traced, there is no loop."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        for _ in range(10):
            x = torch.tanh(self.layer(x))
        return x


class Planted(nn.Module):
    """A loop of slow Python, a heavy convolution, and a loop of small operators."""

    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(16, 16, 3, padding=1)

    def forward(self, x):
        x = self.convolution(x)
        shift = 0
        for _ in range(20):  # slow
            shift += busy(2000)
        for _ in range(5):  # fast
            x = x + 1
        return x * (shift > 0)


class Helpers(nn.Module):
    """A test in a function of its own, a comprehension, a generator, an early return."""

    def large(self, x):
        return (x.sum() > 1e6).item()

    def parts(self, x):
        for row in x:
            yield torch.tanh(row)

    def forward(self, x):
        if self.large(x):
            return x
        rows = [torch.sigmoid(row) for row in x]
        total = x.new_zeros(x.shape[1])
        for part in self.parts(x):
            total = total + part
        for row in rows:
            if torch.sum(row) > 0:
                return total + row
        return total


CASES = {"straight": (Straight, (600, 600)), "traced": (Looped, (4, 8)), "looped": (Looped, (4, 8)),
         "planted": (Planted, (1, 16, 64, 64)), "helpers": (Helpers, (4, 8))}


def hashed(tensor):
    return hashlib.sha256(bytes(tensor.contiguous().view(torch.uint8).flatten().tolist())).hexdigest()


def call(model, x):
    return model(x)


@torch.no_grad()
def main(case, calls=6):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    kind, shape = CASES[case]
    model, x = kind().eval(), torch.randn(shape)
    if case == "traced":
        model = torch.jit.trace(model, (x,), check_trace=False)

    def elsewhere():
        for _ in range(20):
            call(model, x)

    other = threading.Thread(target=elsewhere)
    other.start()
    outputs = [call(model, x) for _ in range(int(calls))]
    other.join()
    print(*sorted({hashed(output) for output in outputs}))


if __name__ == "__main__":
    main(*sys.argv[1:])
