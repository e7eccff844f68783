"""Pipelines in greenlets, which switch in the middle of samples and continue later, on one C stack."""
import os
import sys

import work

try:
    import greenlet
except ImportError as error:
    print(error)
    sys.exit(77)


def depth(levels):
    return 0 if levels == 0 else 1 + depth(levels - 1)


def main():
    hub = greenlet.getcurrent()

    def leaving(index):
        with open("/dev/null") as file:
            hub.switch(file)
        return index

    def pipeline(number):
        return lambda: work.epoch(leaving, workers=0, samples=20, name=f"greenlet {number}")

    work.epoch(workers=0, name="before")
    waiting = [greenlet.greenlet(pipeline(number)) for number in range(5)]
    turns = 0
    while waiting:
        for each in list(waiting):
            turns += 1
            (lambda: each.switch())() if turns % 2 else each.switch()
            os.close(os.open(sys.executable, os.O_RDONLY))  # belongs to no sample, although one is open
            if turns % 3 == 0:
                depth(50)
            if each.dead:
                waiting.remove(each)
    work.epoch(workers=2, name="workers")
    work.end()


main()
