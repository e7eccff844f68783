"""Makes samples by an operation of many Python calls: program KIND WORKERS. Prints what was done, and how often Python's
own frame evaluator ran it.

  plain   calls that play no role, nothing else
  late    from the 100th run on, a runner with an operation of its own inside
  thread  as plain, while another thread of Python sleeps
  fork    as plain; the last run forks: is the child's evaluator its own?
  raises  as plain; each third run raises an exception inside, which it catches

The operation's work is in two functions: `walk` calls `step`, which computes for long enough to be sampled.
"""
import ctypes
import json
import os
import sys
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from compose import Compose

SAMPLES = 240
CALLS = 150


def own_evaluator():
    api = ctypes.pythonapi
    api.PyInterpreterState_Get.restype = ctypes.c_void_p
    api._PyInterpreterState_GetEvalFrameFunc.restype = ctypes.c_void_p
    api._PyInterpreterState_GetEvalFrameFunc.argtypes = [ctypes.c_void_p]
    now = api._PyInterpreterState_GetEvalFrameFunc(api.PyInterpreterState_Get())
    return now == ctypes.cast(api._PyEval_EvalFrameDefault, ctypes.c_void_p).value


def step(i):
    return sum(range(1000))


def walk(depth):
    for i in range(CALLS // 2):
        step(i)
    return max(map(walk, [depth - 1])) if depth > 0 else 1  # by way of a C function: a second evaluation


def fail():
    raise KeyError


class Inner:
    def __call__(self, x):
        return x


class Outer:
    def __init__(self, kind):
        self.kind, self.runs = kind, 0
        self.inside = Compose([Inner()])

    def __call__(self, x):
        self.runs += 1
        inner, forked = 0, 0
        walk(1)
        if self.kind == "raises" and self.runs % 3 == 0:
            try:
                fail()
            except KeyError:
                pass
        if self.kind == "late" and self.runs >= 100:
            self.inside(x)
            inner = 1
        if self.kind == "fork" and self.runs == SAMPLES:
            child = os.fork()
            if child == 0:
                os._exit(1 if own_evaluator() else 0)
            forked = 1 + os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return [1, int(own_evaluator()), inner, forked]


class Data(Dataset):
    def __init__(self, kind):
        self.transform = Compose([Outer(kind)])

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        return self.transform(i)


def collate(samples):
    """As tensors, where torch is PyTorch."""
    return [torch.tensor(sample) if hasattr(torch, "tensor") else sample for sample in samples]


def main():
    kind, workers = sys.argv[1], int(sys.argv[2])
    if kind == "thread":
        threading.Thread(target=threading.Event().wait, args=(300,), daemon=True).start()
    samples = []
    for batch in DataLoader(Data(kind), batch_size=4, num_workers=workers, collate_fn=collate):
        samples += [[int(number) for number in sample] for sample in batch]
    runs, unhooked, inner, forked = (sum(column) for column in zip(*samples))
    last = [sample[1] for sample in samples[-4:]]
    print(json.dumps({"runs": runs, "unhooked": unhooked, "inner": inner, "last": last,
                      "forked": forked}))


if __name__ == "__main__":
    main()
