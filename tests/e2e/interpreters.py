"""The CPython interpreters of this machine, including those without packages.

LOTUS_PYTHON names them, separated by colons; by default all that can be found.
"""
import os
import pathlib
import shutil
import subprocess

OLDEST, NEWEST = (3, 9), (3, 14)  # versions that Lotus supports


def version(path):
    """(major, minor, patch) of a CPython; None if it does not run or is another implementation."""
    code = "import sys; print(*sys.version_info[:3], sys.implementation.name)"
    answer = subprocess.run([path, "-c", code], capture_output=True, text=True)
    words = answer.stdout.split()
    return tuple(map(int, words[:3])) if answer.returncode == 0 and words[3:] == ["cpython"] else None


def found():
    """{(major, minor, patch): path}, one interpreter per version."""
    if "LOTUS_PYTHON" in os.environ:
        paths = os.environ["LOTUS_PYTHON"].split(":")
    else:
        paths = [*sorted(pathlib.Path.home().glob(".pyenv/versions/*/bin/python3")),
                 *sorted(pathlib.Path("/usr/local/bin").glob("python3.[0-9]*[0-9]")),
                 *filter(None, (shutil.which(f"python3.{minor}") for minor in range(6, NEWEST[1] + 2)))]
    known = {}
    for path in map(str, paths):
        if "/shims/" not in path and (numbers := version(path)) is not None:
            known.setdefault(numbers, path)
    return known
