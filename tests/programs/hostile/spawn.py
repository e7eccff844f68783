"""Starts other programs from inside samples: by vfork (subprocess), posix_spawn, fork and exec, and a shell."""
import os
import subprocess

import work

PATH = "/bin/sh"
COUNT = ["sh", "-c", "read line; echo ${#line}; exit 3"]


def by_vfork(index):
    made = subprocess.run(COUNT, executable=PATH, input=b"x" * index + b"\n", capture_output=True, close_fds=index % 2 == 0)
    return int(made.stdout) + made.returncode


def by_posix_spawn(index):
    child = os.posix_spawn(PATH, ["sh", "-c", f"exit {index}"], os.environ)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def by_exec(index):
    child = os.fork()
    if child == 0:
        os.execv(PATH, ["sh", "-c", f"exit {index}"])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def by_shell(index):
    with os.popen(f"echo {index}") as shell:
        return int(shell.read()) + os.waitstatus_to_exitcode(os.system(f"exit {index}"))


def failing(index):
    try:
        subprocess.run(["/no/such/program"], check=True)
    except FileNotFoundError as error:
        return error.errno


def main():
    for function in (by_vfork, by_posix_spawn, by_exec, by_shell, failing):
        for workers in (0, 1):
            work.epoch(function, workers=workers, samples=4, name=function.__name__)
    work.end()


main()
