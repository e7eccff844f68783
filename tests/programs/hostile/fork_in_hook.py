"""A thread forks while another one is inside a counted call, and a third one inside an operation."""
import os
import sys
import threading

import work

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3


def fork_and_release(wake):
    child = os.fork()
    if child == 0:
        work.epoch(workers=0, samples=2, show=lambda *_, **__: None)
        os.write(wake, b"x")
        os._exit(3)
    return child


def held(index):
    """Reads from a pipe to which only a child process of another thread writes."""
    readable, wake = os.pipe()
    children = []
    thread = threading.Thread(target=lambda: children.append(fork_and_release(wake)))
    thread.start()
    byte = os.read(readable, 1)
    thread.join()
    status = os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1])
    os.close(readable)
    os.close(wake)
    return index if (byte, status) == (b"x", 3) else -1


def busy():
    for _ in range(20):
        work.epoch(workers=0, samples=2, show=lambda *_, **__: None)


def main():
    for number in range(ROUNDS):
        work.epoch(held, workers=number % 2, samples=4, name=f"round {number}")
    third = threading.Thread(target=busy)
    third.start()
    work.epoch(held, workers=0, samples=4, name="beside another thread")
    third.join()
    work.end(4 * (ROUNDS + 1))


main()
