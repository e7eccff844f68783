"""Does what may break a sampler, many times inside samples; each case is a function below.

    many.py CASE COUNT DIRECTORY     with libhostile.so, its plugin, and libcaller1.so (tests/programs/native)

Prints sums that are wrong if anything fails.
"""
import ctypes
import os
import sys
import threading

import work

SAMPLES = 4  # the count is divided among them
directory = None


def library(name):
    return ctypes.CDLL(os.path.join(directory, name))


def forks(count):
    """Child processes that compute while they are sampled, and answer by their exit codes."""
    answers = 0
    for number in range(count):
        child = os.fork()
        if child == 0:
            os._exit(sum(range(number % 300)) % 251)
        answers += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return answers


def loads(count):
    """Loads, calls and unloads a library, beside a thread that does the same."""
    native = library("libhostile.so")
    answers = []

    def load(times):
        answers.append(sum(native.ask_plugin(number % 7) for number in range(times)))

    beside = threading.Thread(target=load, args=(count // 2,))
    beside.start()
    load(count - count // 2)
    beside.join()
    return sum(answers)


def exceptions(count):
    """Exceptions of C++ and long jumps through hooked functions."""
    native = library("libcaller1.so")
    return sum(native.fail_by_exception() + native.fail_by_longjmp() + native.decode() for _ in range(count))


def depth(levels):
    return 0 if levels == 0 else 1 + depth(levels - 1)


def recursion(count):
    """Recursion of 50,000 frames, and of 900 in a new thread with a small stack."""
    sys.setrecursionlimit(60_000)
    total = 0
    for _ in range(count):
        total += depth(50_000)
        threading.stack_size(256 * 1024)
        thread = threading.Thread(target=depth, args=(900,))
        thread.start()
        threading.stack_size(0)
        thread.join()
    return total


def signals(count):
    """Two interval timers, each with 5,000 signals per second and file I/O in its handler; 1 ms per count."""
    native = library("libhostile.so")
    assert native.handle_signals(200) == 0
    answers = sum(native.burn_ms(1) for _ in range(count))
    native.stop_signals()
    return answers + native.failed_in_handlers()


def threads(count):
    """Threads that end while they are sampled, eight at a time."""
    total = []

    def compute(number):
        total.append(sum(range(number % 1000 * 20)))

    for first in range(0, count, 8):
        some = [threading.Thread(target=compute, args=(first + number,)) for number in range(min(8, count - first))]
        for thread in some:
            thread.start()
        for thread in some:
            thread.join()
    return sum(total)


def main():
    global directory
    case, count, directory = globals()[sys.argv[1]], int(sys.argv[2]), sys.argv[3]
    for workers in (0, 1):
        work.epoch(lambda _: case(count // (2 * SAMPLES)), workers=workers, samples=SAMPLES, name=case.__name__)
    work.end()


main()
