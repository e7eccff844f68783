"""Leaves its namespaces: its next child is the first process of a new pid namespace.

    other_namespaces.py before|between     before or between epochs of its own
"""
import ctypes
import os
import sys

import work

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
NOT_PERMITTED = 77
libc = ctypes.CDLL(None, use_errno=True)


def leave(namespaces):
    if libc.unshare(namespaces) != 0:
        print("not permitted:", os.strerror(ctypes.get_errno()))
        os._exit(NOT_PERMITTED)


def in_child(function):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        function()
        sys.stdout.flush()
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == NOT_PERMITTED:  # user namespaces are not permitted in a chroot
        os._exit(code)
    print("child", code, flush=True)


def first_of_a_namespace():
    print("pid", os.getpid())
    leave(CLONE_NEWUSER)
    work.epoch(workers=2, name="in it, without a user")


def main():
    if sys.argv[1] == "between":
        work.epoch(workers=2, name="before")
    leave(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET)
    work.epoch(workers=0, name="after")
    in_child(first_of_a_namespace)
    work.end(work.SAMPLES // work.BATCH)


main()
