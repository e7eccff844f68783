"""Executes itself by exec, with all signals blocked and CPU time just used; finally executes a shell."""
import os
import signal
import sys

import work

TIMES = 3


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    work.epoch(workers=number % 2, name=f"image {number}")
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    work.burn(0.05)
    if number < TIMES:
        os.execv(sys.executable, [sys.executable, __file__, str(number + 1)])
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
    work.end(times=TIMES)
    os.execv("/bin/sh", ["sh", "-c", "echo in a shell; exit 7"])


main()
