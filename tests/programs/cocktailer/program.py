"""The command line of a workload: runs it, and prints as one line of JSON what it did.

    python lstm.py [--size small] [--batch 1] [--seed 0] [--calls 3] [--twin]
    python blockdrop.py [--rate 50] [--no-skip] …

`truth` is of one call of the model's forward, counted in a copy of the program (counting.py). A branch is taken when its test
is true. Lines are those of the workload's file. `region` is that forward's qualified name, `region_calls` how often the
program then calls it. `output`: hashes of the tensors that it returned; all calls must return the same, a twin nearly the same.

A workload's module has SIZES, {size: parameters of make}, and make(options, **parameters), which returns the model and
its inputs; BATCHES, if not each batch size will do; PINNED, if it has branches whose outcome `--rate` decides.
"""
import argparse
import hashlib
import json
import sys

import torch

import counting
import twin


def options_of(module, arguments=None):
    parser = argparse.ArgumentParser(description=module.__doc__)
    parser.add_argument("--size", choices=list(module.SIZES), default="small", help="the paper's, or operators of some µs")
    parser.add_argument("--batch", type=int, default=1, choices=getattr(module, "BATCHES", None))
    parser.add_argument("--seed", type=int, default=0, help="of weights and inputs")
    parser.add_argument("--calls", type=int, default=3, help="of the model")
    parser.add_argument("--twin", action="store_true", help="call the twin, which has no control flow, in place of the model")
    if hasattr(module, "PINNED"):
        parser.add_argument("--rate", type=float, default=50, help="the share of gated blocks that run, in percent")
        parser.add_argument("--no-skip", action="store_true", help="the network without gates")
    return parser.parse_args(arguments)


def made(make, sizes, options):
    """The model, ready for inference, and its inputs: always the same ones for the same options."""
    torch.manual_seed(options.seed)
    model, inputs = make(options, **sizes[options.size])
    return model.eval(), inputs


def hashes(output):
    """Of the bytes of each tensor."""
    return [hashlib.sha256(bytes(tensor.contiguous().view(torch.uint8).flatten().tolist())).hexdigest()
            for tensor in twin.tensors(output)]


def truth(path, options):
    """What one call does, and the hashes of its output."""
    names, counters = counting.copy_of(path)
    model, inputs = made(names["make"], names["SIZES"], options)
    counters.clear()
    with counters.watched():
        output = model(*inputs)
    return counters.told(), hashes(output)


@torch.no_grad()
def main():
    module = sys.modules["__main__"]
    options = options_of(module)
    torch.set_num_threads(1)
    told, counted_output = truth(module.__file__, options)
    model, inputs = made(module.make, module.SIZES, options)
    result = {**vars(options), "torch": torch.__version__, "region": f"{type(model).__qualname__}.forward",
              "region_calls": options.calls, "parameters": module.SIZES[options.size], "truth": told}
    called = model
    if options.twin:
        called, result["region_calls"] = twin.twin(model, inputs), 2  # to trace it, and to compare it
    outputs = [hashes(called(*inputs)) for _ in range(options.calls)]
    if options.twin:
        result["comparison"] = twin.comparison(model(*inputs), called(*inputs))
    same = all(output == counted_output for output in outputs)
    if not same and not (options.twin and result["comparison"]["close"]):
        sys.exit("the outputs of several calls, of the counted copy, or of the twin differ")
    print(json.dumps({**result, "output": counted_output if same else outputs[-1]}))


if __name__ == "__main__":
    sys.exit("run one of the workloads, such as lstm.py")
