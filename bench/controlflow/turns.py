#!/usr/bin/env python3
"""Calls one workload of tests/programs/cocktailer and its twin in turns; run under Lotus by bench/cocktailer --with-lotus.

    turns.py WORKLOAD ROUNDS CALLS [options of the workload]

The workload is called CALLS times a round, for Lotus to record; the twin, which Lotus leaves alone, is timed as in timing.py.
Prints JSON: `trace`, the twin's times.
"""
import importlib
import json
import sys

import torch

import timing  # first: it says where the workloads are
import program
import twin


@torch.no_grad()
def main(workload, rounds, calls, *arguments):
    module = importlib.import_module(workload)
    torch.set_num_threads(1)
    model, inputs = program.made(module.make, module.SIZES, program.options_of(module, arguments))
    case = timing.Case(twin.twin(model, inputs), inputs)
    case.calls = max(case.calls, int(calls))  # else the first ones, which find the caches full of the model's, would weigh more
    for _ in range(int(rounds)):
        for _ in range(int(calls)):
            model(*inputs)
        case.time()
    print(json.dumps({"torch": torch.__version__, "trace": case.told()}))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
