"""Closes all descriptors but the first three, again and again, between batches and inside samples."""
import os

import work


def closing(index):
    child = os.fork()
    if child == 0:
        os.closerange(3, 65536)
        work.burn(0.01)
        os._exit(4)
    return index if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4 else -1


def close_all():
    work.settle()  # or threads and objects of multiprocessing would fail
    os.closerange(3, 65536)


def main():
    work.epoch(workers=0, name="before")
    close_all()
    work.epoch(workers=2, name="workers")
    close_all()
    work.epoch(closing, workers=1, name="in a child")
    close_all()
    work.epoch(workers=0, name="after")
    print(len(os.listdir("/proc/self/fd")) - 1)
    work.end()


main()
