"""Consecutive workers that all have the same pid. Must run in its own pid namespace."""
import multiprocessing.popen_fork
import os

import work

TIMES = 5
WANTED = 4000


class Popen(multiprocessing.popen_fork.Popen):
    """Starts a process with the pid WANTED."""

    def _launch(self, process):
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(WANTED - 1))
        super()._launch(process)


def main():
    multiprocessing.context.ForkProcess._Popen = staticmethod(Popen)
    for number in range(TIMES):
        work.epoch(lambda index: index + os.getpid(), workers=1, name=f"round {number}")
    work.end()


main()
