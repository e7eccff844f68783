"""Stops and continues the main process and its workers while batches are made."""
import os
import signal
import time

import work


def stop_all(processes, times):
    """Stops and continues the processes from a child, which is not stopped itself."""
    for _ in range(times):
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        time.sleep(0.05)
        for process in processes:
            os.kill(process, signal.SIGCONT)
        time.sleep(0.02)
    os._exit(0)


def stopping(index):
    """Has a child stop and continue this process and its parent."""
    child = os.fork()
    if child == 0:
        stop_all([os.getppid()], 2)
    return index if os.waitpid(child, 0)[1] == 0 else -1


def main():
    work.epoch(stopping, workers=0, name="the main process")
    work.epoch(stopping, workers=2, name="workers")
    child = os.fork()
    if child == 0:
        stop_all([os.getppid()], 4)
    work.epoch(workers=2, name="the main process with workers")
    os.waitpid(child, 0)
    work.end()


main()
