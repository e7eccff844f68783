"""Calls a function, `call` or, with a third word, one of that name, and is killed in the middle of a call.

    ends_in_region.py CALLS KILLED [NAME]

CALLS: that are made; KILLED: in which of them it is killed, from 0; -1: in none.
"""
import os
import signal
import sys

import torch


def call(x, number, killed):
    for i in range(10):
        x = torch.tanh(x + 1)
        if number == killed and i == 5:
            os.kill(os.getpid(), signal.SIGKILL)
    return x


def main():
    calls, killed = map(int, sys.argv[1:3])
    if len(sys.argv) > 3:
        code = call.__code__.replace(co_name=sys.argv[3])
        call.__code__ = code.replace(co_qualname=sys.argv[3]) if hasattr(code, "co_qualname") else code
        call.__qualname__ = sys.argv[3]
    for number in range(calls):
        call(torch.ones(16), number, killed)


main()
