"""Gives up root between two epochs: in the workers only, and then for good."""
import os

import work

NOBODY = 65534


def give_up(*_):
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def main():
    work.epoch(workers=1, name="as root")
    work.epoch(workers=2, name="workers of another user", worker_init_fn=give_up)
    give_up()
    work.epoch(workers=2, name="all of another user")
    work.epoch(workers=0, name="without workers")
    print("user", os.getuid())
    work.end()


main()
