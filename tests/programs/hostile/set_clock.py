"""The realtime clock is set an hour forward, then two back, then right again, while batches are made."""
import time

import work

HOUR = 3600


def turned(offsets):
    def turn(index):
        if index in offsets:
            time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + offsets[index])
        return index

    return turn


def main():
    begin = time.clock_gettime(time.CLOCK_MONOTONIC), time.clock_gettime(time.CLOCK_REALTIME)
    try:
        work.epoch(turned({2: HOUR, 4: -2 * HOUR, 6: HOUR}), workers=0, name="turned by main")
        work.epoch(turned({1: HOUR, 5: -HOUR}), workers=1, name="turned by a worker")
    finally:
        passed = time.clock_gettime(time.CLOCK_MONOTONIC) - begin[0]
        time.clock_settime(time.CLOCK_REALTIME, begin[1] + passed)
    work.end()


main()
