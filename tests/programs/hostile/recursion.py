"""Recursion inside operations: 50,000 frames, up to the limit, and in threads with small stacks."""
import sys
import threading

import work

DEEP = 50_000 if sys.version_info >= (3, 11) else 5_000


def depth(levels):
    return 0 if levels == 0 else 1 + depth(levels - 1)


def deep(_):
    sys.setrecursionlimit(60_000)
    reached = depth(DEEP)
    sys.setrecursionlimit(1_000)
    return reached


def to_the_limit(index):
    try:
        return depth(5_000)
    except RecursionError as error:
        assert str(error).startswith("maximum recursion depth exceeded"), error
        return -index


def in_thread(stack):
    """Recursion in a new thread, whose frames pass the evaluator but are not part of the sample."""

    def recurse(index):
        answers = []
        previous = threading.stack_size(stack)
        thread = threading.Thread(target=lambda: answers.append(depth(900)))
        thread.start()
        threading.stack_size(previous)
        thread.join()
        return answers[0]

    return recurse


def pipeline_in_thread(stack):
    """A whole pipeline on a small stack, with recursion in its operations."""
    previous = threading.stack_size(stack)
    thread = threading.Thread(target=work.epoch, args=(lambda _: depth(800),),
                              kwargs={"workers": 0, "samples": 4, "name": f"on {stack} bytes"})
    thread.start()
    threading.stack_size(previous)
    thread.join()


def main():
    for workers in (0, 1):
        work.epoch(deep, workers=workers, samples=2, name="deep")
        work.epoch(to_the_limit, workers=workers, samples=2, name="to the limit")
    if sys.version_info >= (3, 11):  # earlier versions take C stack for recursion even without a tracer
        for stack in (128, 256, 512):
            work.epoch(in_thread(stack * 1024), workers=0, samples=2, name=f"{stack} KiB")
            pipeline_in_thread(stack * 1024)
    work.end()


main()
