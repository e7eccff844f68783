"""Exits by os._exit: in children inside samples, in threads, and finally inside an operation."""
import os
import threading

import work


def leaving(index):
    child = os.fork()
    if child == 0:
        threading.Thread(target=os._exit, args=(index + 1,)).start()
        work.burn(60)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def end_here(index):
    if index < 4:
        return index
    work.end()
    os._exit(5)


def main():
    work.epoch(leaving, workers=0, name="children")
    work.epoch(leaving, workers=2, name="children of workers")
    work.epoch(end_here, workers=0, name="the end")
    print("not reached")


main()
