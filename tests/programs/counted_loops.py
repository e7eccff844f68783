"""A region whose loops count themselves, so often called that CPython has specialised its calls: with functions that call back, and
around handlers of exceptions. Prints {line of a loop: [entries, iterations]} of a call; all calls do the same."""
import collections
import json

import torch

CALLS = 40
counts = {"entries": collections.Counter(), "iterations": collections.Counter()}


def entered(name):
    counts["entries"][name] += 1


def again(name):
    counts["iterations"][name] += 1


class Model(torch.nn.Module):
    def search(self, x):
        """As a beam search: sorted() and all() call functions of this one in each iteration."""
        beams, n = [(0, 0, x)], 0
        entered("search")
        while n < 4 and not all(done for _, done, _ in beams):  # loop search
            again("search")
            n += 1
            found = []
            entered("beams")
            for score, _, y in beams:  # loop beams
                again("beams")
                y = torch.tanh(y)
                found += [(score + 1, 0, y), (score + 2, 0, y)]
            beams = sorted(found, key=lambda one: -one[0])[:2]
        return beams[0][2]

    def odd(self, x):
        entered("odd")
        for i in range(5):  # loop odd
            again("odd")
            y = x.neg()
            if i % 2:
                continue
            x = x + y
        return x

    def guarded(self, x):
        """Nothing is raised here."""
        entered("before")
        for _ in range(4):  # loop before
            again("before")
            x = torch.tanh(x)
        try:
            x = x.reshape(4, 4)
        except RuntimeError:
            x = x.reshape(2, 8)
        entered("behind")
        for _ in range(3):  # loop behind
            again("behind")
            x = torch.relu(x)
        return x

    def raising(self, x):
        entered("raising")
        for i in range(4):  # loop raising
            again("raising")
            try:
                y = x.sum()
                if i % 2:
                    raise ValueError
                x = x + y
            except ValueError:
                x = x - 1
        return x

    def repeating(self, x):
        n = 0
        entered("repeating")
        while n < 7:  # loop repeating
            again("repeating")
            n += 1
            x = x + 1
            if n % 2:
                continue
            entered("inner")
            m = 0
            while m < 6:  # loop inner
                again("inner")
                m += 1
                try:
                    if m % 3 == 0:
                        raise ValueError
                    x = torch.tanh(x)
                except ValueError:
                    continue
                x = torch.relu(x)
            x = x * 2
        return x

    def forward(self, x):
        return self.search(x), self.odd(x), self.guarded(x), self.raising(x), self.repeating(x)


if __name__ == "__main__":
    model = Model()
    with torch.no_grad():
        for _ in range(CALLS):
            model(torch.zeros(16))
    mark = ":  # " + "loop "
    with open(__file__, encoding="utf-8") as file:
        lines = {line.split(mark)[1].strip(): number for number, line in enumerate(file, 1) if mark in line}
    print(json.dumps({lines[name]: [counts[what][name] / CALLS for what in ("entries", "iterations")] for name in lines}))
