"""The CPython interpreters of this machine, including those without packages.

LOTUS_PYTHON names them, separated by colons; by default all that can be found.
"""
import functools
import os
import pathlib
import shutil
import subprocess

OLDEST, NEWEST = (3, 9), (3, 15)  # versions that Lotus supports
FREE_THREADED = 3, 13  # … of builds that can run threads at once


def asked(path):
    """(major, minor, patch) of a CPython, and what its build is named for; None if it is none or does not run."""
    code = "import sys; print(*sys.version_info[:3], sys.implementation.name, '-' + sys.abiflags)"
    answer = subprocess.run([path, "-c", code], capture_output=True, text=True)
    words = answer.stdout.split()
    if answer.returncode != 0 or words[3:4] != ["cpython"]:
        return None
    return tuple(map(int, words[:3])), "".join(flag for flag in "td" if flag in words[4])


def version(path):
    """(major, minor, patch) of a CPython; None if it does not run or is another implementation."""
    told = asked(path)
    return told and told[0]


@functools.cache
def all_builds():
    """{((major, minor, patch), flags): path}, one interpreter per version and build."""
    if "LOTUS_PYTHON" in os.environ:
        paths = os.environ["LOTUS_PYTHON"].split(":")
    else:
        names = [f"python3.{minor}{end}" for end in ("", "t", "-dbg") for minor in range(6, NEWEST[1] + 2)]
        paths = [*sorted(pathlib.Path.home().glob(".pyenv/versions/*/bin/python3")),
                 *sorted(pathlib.Path("/usr/local/bin").glob("python3.[0-9]*[0-9]")), *filter(None, map(shutil.which, names))]
    known = {}
    for path in map(str, paths):
        if "/shims/" not in path and (told := asked(path)) is not None:
            known.setdefault(told, path)
    return known


def found():
    """{(major, minor, patch): path} of ordinary builds."""
    return {numbers: path for (numbers, flags), path in all_builds().items() if not flags}


def traced():
    """{"3.11.7": path} of all builds that Lotus supports, but for debug ones, in order."""
    builds = sorted(item for item in all_builds().items() if OLDEST <= item[0][0][:2] <= NEWEST)
    return {".".join(map(str, numbers)) + flags: path for (numbers, flags), path in builds
            if not flags or (flags == "t" and numbers[:2] == FREE_THREADED)}


def free_threaded(wanted=True):
    """{"3.13t": path} of the free-threaded builds that Lotus supports; `wanted` false: that it does not."""
    builds = {**supported("t"), **supported("td")}
    version_of = "{}.{}".format(*FREE_THREADED)
    return {name: path for name, path in builds.items() if (name.rstrip("td") == version_of) == wanted}


def supported(flags=""):
    """{"3.11": path} of the versions that Lotus supports. `flags`: of builds named so: t free-threaded, d debug."""
    return {f"{numbers[0]}.{numbers[1]}{flags}": path for (numbers, build), path in all_builds().items()
            if build == flags and OLDEST <= numbers[:2] <= NEWEST}
