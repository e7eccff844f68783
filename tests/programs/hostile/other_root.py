"""Changes its root directory between two epochs, to one with nothing but the files for semaphores."""
import os
import sys

import work


def main():
    work.epoch(workers=1, name="in the old root")
    os.makedirs(os.path.join(sys.argv[1], "dev/shm"))
    os.makedirs(os.path.join(sys.argv[1], "tmp"))
    os.chroot(sys.argv[1])
    os.chdir("/")
    work.epoch(workers=2, name="in the new root")
    work.epoch(workers=0, name="without workers")
    print([directory for directory, _, files in os.walk("/") if files])
    work.end()


main()
