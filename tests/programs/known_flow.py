"""Models whose control flow is known beforehand, for LOTUS_REGION=call; prints hashes of what the calls returned. Another
thread calls the same function meanwhile.

    known_flow.py straight|traced|looped|planted|helpers|plain|unclear [calls]
"""
import asyncio
import functools
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


class Plain(nn.Module):
    """Loops that can be counted: entries and iterations stand behind each."""

    def forward(self, x):
        y = x
        while y.sum().item() < 90:  # loop 1 3
            y = y + 1
        for a, b in zip(x, y):  # loop 1 4
            y = y + (a * b)[0]
        for i, a in enumerate(x):  # loop 1 4
            y = y + a * i
        for a in x:  # loop 1 4
            y = y + a
        for i in range(5):  # loop 1 5
            with torch.no_grad():
                y = y * 0.5
                if i == 2:  # branch 1 4
                    continue
                y = torch.relu(y) - 1
        for i in range(6):  # loop 1 6
            y = y + 1 if i % 3 else y - 1  # branch 4 2
        for i in range(6):  # loop 1 6
            if (i < 2  # branch 2 4
                    or y.sum().item() > 1e9):  # branch 0 4
                y = y + 1
            else:
                y = y - 1
        return y


@functools.lru_cache(None)
def kept(i):
    return i * 2


class Lazy(dict):
    def __missing__(self, key):
        self[key] = key + 1
        return key + 1


async def waiting(x):
    for _ in range(3):  # loop 2 6
        await asyncio.sleep(0)
        x = x + 1
    return x


async def both(x):
    return await asyncio.gather(waiting(x), waiting(x + 1))


class Unclear(nn.Module):
    """Loops that cannot, or hardly, be counted by what is seen in them."""

    def risky(self, x, i):
        if i % 3 == 2:
            raise ValueError
        return x + 1

    def forward(self, x):
        for _ in range(10):  # loop 1 10
            for _ in range(50):  # loop 10 500
                x = torch.relu(x) * 0.9
        for i in range(3):  # loop 1 3
            if i == 1:  # branch 1 2
                continue
            x = x + 1
        for i in range(4):  # loop 1 4
            for j in range(i):  # loop 4 5
                if j == 2:  # branch 1 5
                    break
                x = x + 1
        for i in range(3):  # loop 1 3
            sorted([3, 1, 2], key=lambda value: -value)
        for i in range(4):  # loop 1 4
            x[i % 4, 1]
        for i in range(3):  # loop 1 3
            list(map(torch.relu, [x, x]))
        lazy = Lazy()
        for i in range(8):  # loop 1 8
            x = x + lazy[i % 2]
        for i in range(8):  # loop 1 8
            x = x * kept(i % 3)
            if i % 4 == 3:  # branch 2 6
                x = x / 100
        for i in range(9):  # loop 1 9
            try:
                x = self.risky(x, i)
            except ValueError:
                x = torch.relu(x)
        rows = iter([x, x, x])
        while True:  # loop 1 4
            try:
                row = next(rows)
            except StopIteration:
                break
            x = x + row
        for i in range(20):  # loop 1 20
            x = torch.relu(x) * 0.9
        loop = asyncio.new_event_loop()
        a, b = loop.run_until_complete(both(x))
        loop.close()
        return torch.tanh(a + b)


CASES = {"straight": (Straight, (600, 600)), "traced": (Looped, (4, 8)), "looped": (Looped, (4, 8)),
         "planted": (Planted, (1, 16, 64, 64)), "helpers": (Helpers, (4, 8)),
         "plain": (Plain, (4, 8)), "unclear": (Unclear, (4, 8))}


def hashed(tensor):
    return hashlib.sha256(bytes(tensor.contiguous().view(torch.uint8).flatten().tolist())).hexdigest()


def call(model, x):
    return model(x)


@torch.no_grad()
def main(case, calls=6):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    kind, shape = CASES[case]
    model, x = kind().eval(), torch.randn(shape) if case not in ("plain", "unclear") else torch.ones(shape) / 32
    if case == "traced":
        model = torch.jit.trace(model, (x,), check_trace=False)
        for _ in range(3):  # two threads that run it first may optimise it to more operators
            model(x)

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
