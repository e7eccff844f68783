"""Which trace a program has left, and whether it is complete."""
import glob
import json
import os
import pathlib
import time

from . import places

UNTIL_MADE_S = 5
LONGEST_S = 30  # naming the functions of a large program takes some seconds


def is_complete(path):
    """Whether the collector has closed this trace."""
    code, text, _ = places.ask(places.ANALYZE, "info", "--json", path)
    return code == 0 and not json.loads(text)["truncated"]


def wait_for(path, longest=LONGEST_S):
    """Waits until the trace is complete; False: it is not, as something that is traced still runs."""
    end = time.monotonic() + longest
    while not is_complete(path):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def directories():
    """What the collector tells of the places of segments."""
    code, text, _ = places.ask(places.COLLECTOR, "--status", "--json")
    return json.loads(text)["directories"] if code == 0 else []


def is_recording():
    """Whether anything is left to be written to a trace, of any program."""
    return any(directory.get("segments") or directory.get("served") for directory in directories())


def other_collector():
    """What is to be said of a collector that serves our programs now and is not ours; None: there is none."""
    for directory in directories():
        pid = directory.get("pid") if directory.get("served") else None
        try:
            program = os.readlink(f"/proc/{pid}/exe") if pid else str(places.COLLECTOR)
        except OSError:
            continue
        if program != str(places.COLLECTOR):
            return (f"another collector serves {directory['path']} now: {program} (pid {pid}); "
                    "it writes your traces until it ends")
    return None


class Place:
    """Where the trace of a program will lie that is about to start."""

    def __init__(self, output):
        """`output`: the file or the directory that was asked for; None: the working directory."""
        asked = pathlib.Path(output or ".")
        self._named = not asked.is_dir()
        self._directory = asked.parent if self._named else asked
        self._pattern = glob.escape(asked.name) + "*" if self._named else "*.lotus"
        self._before = self._found()

    def _found(self):
        """{path: what changes when it is written anew}"""
        found = {}
        for path in self._directory.glob(self._pattern):
            try:
                status = path.stat()
            except OSError:
                continue
            found[path] = status.st_ino, status.st_mtime_ns
        return found

    def _is_new(self, path, state):
        """In a directory, the trace of another program may grow meanwhile."""
        return self._before.get(path) != state if self._named else path not in self._before

    def _made(self, pid):
        found = self._found()
        new = [path for path, state in found.items() if self._is_new(path, state) and path.suffix != ".old"]
        new.sort(key=lambda path: found[path][1])
        own = [path for path in new if path.name.endswith(f"-{pid}.lotus")]
        return own or new

    def made(self, pid):
        """The traces that were made since, the newest last; one that this process made is the only one.

        A collector that was started just before the program's end has yet to make it.
        """
        end = time.monotonic() + UNTIL_MADE_S
        while True:
            made = self._made(pid)
            if made or not is_recording() or time.monotonic() > end:
                return made
            time.sleep(0.1)


def of_process(pid):
    """The trace that this process is recorded in now, as the serving collector tells; None: it is in none."""
    for directory in directories():
        for session in directory.get("sessions", []):
            if any(process["pid"] == pid for process in session["processes"]):
                return session["file"]
    return None


def is_preloaded(pid="self"):
    """Whether a liblotus.so is in this process."""
    try:
        maps = pathlib.Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return False
    return any(os.path.basename(line.rpartition(" ")[2]) == places.LIBRARY.name for line in maps.splitlines())
