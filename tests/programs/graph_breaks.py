"""A model under torch.compile whose graph breaks; its function `call` is the region.

    python graph_breaks.py CASE [--explain | --stand-in]

CASE: a function of this program's; `looped` is called three times in each call of the region. Prints as JSON the file and line of each break: nothing without an option, what
torch._dynamo.explain says of one call with --explain. --stand-in: there is no torch.compile, and modules of this
program's say what it would (tests run that where PyTorch has none, too).
"""
import collections
import json
import sys
import types

import torch


def branch(x):
    y = x * 2
    if y.sum() > 0:
        y = y + 1
    else:
        y = y - 1
    return y * 3


def talks(x):
    y = x + 1
    print("between", file=sys.stderr)
    y = y * 2
    print("behind", file=sys.stderr)
    return y - 1


def at_work(number):
    return number + 1


def helper(x):
    y = x * 2
    scale = y.sum().item()
    return y * at_work(scale)


def inlined(x):
    y = x * 2
    y = says(y)
    return y - 1


def says(x):
    print("between", file=sys.stderr)
    return x + 1


def line(x):
    y = x + 1
    print("one", file=sys.stderr), print("two", file=sys.stderr)
    return y - 1


def between(x):
    """Is not compiled: its operator runs between two graphs."""
    return x + torch.mm(LARGE, LARGE)[0, 0]


def looped(x):
    y = x * 2
    y = apart(y)
    return y + 1


apart = torch._dynamo.disable(between) if "looped" in sys.argv and "--stand-in" not in sys.argv else between
LARGE = torch.ones(128, 128) if hasattr(torch, "mm") else None
CASES = {"branch": branch, "print": talks, "helper": helper, "inlined": inlined, "line": line, "looped": looped}
SIZES = [4, 4, 4, 5, 5, 5, 5, 5]  # the second size makes the compiler come again


def explain(case):
    found = torch._dynamo.explain(CASES[case])(torch.ones(4, 4)).break_reasons
    return [[reason.user_stack[-1].filename, reason.user_stack[-1].lineno] for reason in found]


class Compiler:
    """Modules and functions with the names that torch.compile's have."""
    CALLER = "def _fn(graph, x):\n    return graph(x)\n"
    COMPILE = "def _compile(inside):\n    for _ in range(100): inside()\n"
    FORWARD = ("\n" * 6 + "def forward(x):\n    y = _fn(graph, x)\n    return torch_dynamo_resume_in_forward_at_9(_fn(between, y))\n"
               "def torch_dynamo_resume_in_forward_at_9(x):\n    at_work(1)\n    return _fn(graph, x)\n")
    GRAPH = "def graph(x):\n    return add(x)\n"

    def __init__(self):
        self.utils = types.ModuleType("torch._dynamo.utils")
        self.utils.graph_break_reasons, self.utils._compilation_metrics = [], collections.deque(maxlen=64)
        sys.modules["torch._dynamo.utils"] = self.utils
        has_operators = hasattr(torch, "mm")
        self.names = {"add": lambda x: torch.add(x, x) if has_operators else x, "at_work": at_work,
                      "between": between if has_operators else at_work}
        for source, file in ((self.CALLER, "/lib/torch/_dynamo/eval_frame.py"), (self.COMPILE, "/lib/torch/_dynamo/convert_frame.py"),
                             (self.FORWARD, "/home/me/model.py"), (self.GRAPH, "<eval_with_key>.1")):
            exec(compile(source, file, "exec"), self.names)

    def compiles(self, why):
        self.names["_compile"](lambda: at_work(0))
        frame = types.SimpleNamespace(filename="/home/me/model.py", lineno=9, name="forward")
        if why is None:
            self.utils.graph_break_reasons.append(types.SimpleNamespace(reason="a break\n  for a test", user_stack=[frame]))
        for name, line in (("forward", 7), ("torch_dynamo_resume_in_forward_at_9", 10)):
            self.utils._compilation_metrics.append(types.SimpleNamespace(
                co_name=name, co_filename="/home/me/model.py", co_firstlineno=line, entire_frame_compile_time_s=0.25,
                guard_count=7, guard_latency_us=2, graph_op_count=1, recompile_reason=why, fail_type=None, fail_reason=None))


def main():
    case, options = sys.argv[1], sys.argv[2:]
    if "--explain" in options:
        print(json.dumps(explain(case)))
        return
    stand_in = Compiler() if "--stand-in" in options else None
    compiled = stand_in.names["forward"] if stand_in else torch.compile(CASES[case], backend="eager")

    def call(x, number):
        if stand_in and number in (0, 3):
            stand_in.compiles(None if number == 0 else "0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5")
        for _ in range(3 if case == "looped" else 1):
            result = compiled(x)
        return result

    for number, size in enumerate(SIZES):
        call(torch.ones(size, size) if hasattr(torch, "ones") else size, number)
    print("[]")


if __name__ == "__main__":
    main()
