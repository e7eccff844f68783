#!/usr/bin/env python3
"""Times one workload of tests/programs/cocktailer with control flow and its twin without, in turns; run by bench/cocktailer.

    timing.py WORKLOAD ROUNDS RATES [options of the workload]

Prints JSON: `cases`, each with the seconds of a call, by round, as the clock and as this thread's CPU time have them. RATES:
the executed shares of a workload with gates, in percent, such as 0,50,100; it is then also timed without gates.
"""
import importlib
import json
import math
import pathlib
import sys
import time

import torch

PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "tests/programs/cocktailer"
sys.path.insert(0, str(PROGRAMS))
import pinning  # noqa: E402
import program  # noqa: E402
import twin  # noqa: E402

WARM_UP = 5         # calls at least: the twin's executor profiles the first ones and optimises what it saw
WARM_UP_S = 0.3
A_ROUND_S = 0.02    # of calls of one case, so that the clock's own cost and steps do not matter


class Case:
    """One function, timed for all rounds. `seconds`, `cpu_seconds`: of a call, by round."""

    def __init__(self, function, inputs):
        self.function, self.inputs = function, inputs
        self.seconds, self.cpu_seconds = [], []
        begin, times = time.perf_counter(), []
        while len(times) < WARM_UP or time.perf_counter() - begin < WARM_UP_S:
            last = time.perf_counter()
            function(*inputs)
            times.append(time.perf_counter() - last)
        self.calls = max(1, math.ceil(A_ROUND_S / min(times)))

    def time(self):
        function, inputs = self.function, self.inputs
        begin, cpu_begin = time.perf_counter(), time.thread_time()
        for _ in range(self.calls):
            function(*inputs)
        self.cpu_seconds.append((time.thread_time() - cpu_begin) / self.calls)
        self.seconds.append((time.perf_counter() - begin) / self.calls)

    def told(self):
        return {"calls_a_round": self.calls, "seconds": self.seconds, "cpu_seconds": self.cpu_seconds}


class Pair:
    """A model and its twin, for the same input. `told`: what is known of them but their times."""

    def __init__(self, module, options, rate):
        model, inputs = program.made(module.make, module.SIZES, options)
        traced = twin.twin(model, inputs)
        self.cases = {"control_flow": Case(model, inputs), "trace": Case(traced, inputs)}
        self.known = {"rate": rate, "comparison": twin.comparison(model(*inputs), traced(*inputs))}
        if rate is not None:
            blocks = len(model.blocks)
            self.known["executed_percent"] = 100 * sum(pinning.executed(rate, blocks)) / blocks

    def told(self):
        return {**self.known, **{name: case.told() for name, case in self.cases.items()}}


def pairs_of(module, rates, arguments):
    if not hasattr(module, "PINNED"):
        return [Pair(module, program.options_of(module, arguments), None)]
    gated = [Pair(module, program.options_of(module, [*arguments, "--rate", str(rate)]), rate) for rate in rates]
    plain = Pair(module, program.options_of(module, [*arguments, "--no-skip"]), None)
    return [*gated, plain]


def time_in_turns(cases, rounds):
    """All cases in each round, each time beginning with another one and in the other direction, so that none always
    comes after the same one."""
    for number in range(rounds):
        order = cases[number % len(cases):] + cases[:number % len(cases)]
        for case in order if number % 2 else reversed(order):
            case.time()


@torch.no_grad()
def main(workload, rounds, rates, *arguments):
    module = importlib.import_module(workload)
    torch.set_num_threads(1)
    pairs = pairs_of(module, [float(rate) for rate in rates.split(",")], arguments)
    time_in_turns([case for pair in pairs for case in pair.cases.values()], int(rounds))
    print(json.dumps({"torch": torch.__version__, "python": sys.version.split()[0], "cases": [pair.told() for pair in pairs]}))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
