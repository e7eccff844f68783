"""Sets limits of file size, descriptors, memory and stack before and between epochs."""
import resource
import signal
import sys

import work


def limit(what, soft):
    resource.setrlimit(getattr(resource, what), (soft, resource.getrlimit(getattr(resource, what))[1]))


def main():
    what = sys.argv[1]
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if what == "before":
        limit("RLIMIT_FSIZE", 64 * 1024)
    work.epoch(workers=2, name="first")
    if what == "between":
        limit("RLIMIT_FSIZE", 64 * 1024)
        limit("RLIMIT_STACK", 512 * 1024)
        limit("RLIMIT_NOFILE", 64)
    work.epoch(workers=2, name="second")
    work.end()


main()
