"""1,000 threads that make one batch each, eight at a time, and 1,000 that only use CPU time."""
import sys
import threading

import work

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
AT_ONCE = 8


def run_all(target):
    for first in range(0, COUNT, AT_ONCE):
        threads = [threading.Thread(target=target, args=(number,)) for number in range(first, min(first + AT_ONCE, COUNT))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def main():
    made = []

    def batch(number):
        work.epoch(lambda index: index + number, workers=0, samples=2, show=lambda *values, **_: made.append(values[1:]))

    run_all(batch)
    print(len(made), sum(map(sum, made)))
    work.epoch(lambda index: run_all(lambda _: work.burn(0.0002)) or index, workers=0, samples=2, name="around threads")
    work.end()


main()
