"""Runs programs with and without the tracer, and reads traces.

Variables: LOTUS_BUILD, the build directory (default: build/release of this checkout); LOTUS_TEST_PYTHON, the
Python of the programs (default: that of the tests); LOTUS_TEST_ROOT, that Python's root directory if it is
not /; LOTUS_TEST_PATIENCE, the time limit in seconds, for slow machines; LOTUS_TEST_EMULATED, if programs
run in an emulator: it keeps them from starting a collector, so one is started beside them, and times are not compared.
"""
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import truth_reader

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOTUS_BUILD", SOURCE / "build/release"))
LIBRARY = BUILD / "lib/liblotus.so"
COLLECTOR = BUILD / "bin/lotus-collector"
ANALYZE = BUILD / "bin/lotus-analyze"
DISTURBED = BUILD / "disturbed.txt"  # a line for each test that ran again (conftest.py)
PROGRAMS = SOURCE / "tests/programs"
FAKE_TORCH = SOURCE / "tests/fake_torch"
PYTHON = os.environ.get("LOTUS_TEST_PYTHON", sys.executable)
ROOT = os.environ.get("LOTUS_TEST_ROOT", "")
EMULATED = bool(os.environ.get("LOTUS_TEST_EMULATED"))
PATIENCE = int(os.environ.get("LOTUS_TEST_PATIENCE", 60))  # seconds until something counts as hung
ORPHANS_S = 20


def clean_environment(**more):
    """The environment without anything that changes how a program or the tracer behaves."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("LOTUS_", "LD_", "PYTHON", "DEBUGINFOD_", "XDG_RUNTIME_DIR", "CTEST_", "PYTEST_"))}
    kept.update(PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", LC_ALL="C.UTF-8")
    kept.update({name: str(value) for name, value in more.items() if value is not None})
    return kept


RESOURCE_TRACKER = re.compile(rb".*/resource_tracker\.py:\d+: UserWarning: |  warnings\.warn\((\n|'resource_tracker: )")
LOG_PREFIX = rb"^[A-Z]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ "  # PyTorch's log: level, date, time, process
CHANGES = re.compile(rb"\(pid(?:\(s\))?[ =][\d, ]+\)| at 0x[0-9a-f]+|" + LOG_PREFIX, re.MULTILINE)


class Outcome:
    """How a program ended: `stdout` and `stderr` are bytes, `code` as in subprocess."""

    def __init__(self, process, stdout, stderr):
        self.pid = process.pid
        self.code = process.returncode
        self.stdout = stdout
        self.stderr = stderr

    @property
    def lotus_lines(self):
        return [line.decode() for line in self.stderr.splitlines() if line.startswith(b"lotus: ")]

    @property
    def visible(self):
        """The parts of the outcome that must be the same with and without the tracer.

        Left out are values that change from run to run: process ids, addresses and the prefix of PyTorch's
        log. So are occasional warnings of CPython's resource tracker about a missing semaphore, which also
        occur without tracer.
        """
        rest = b"".join(line for line in self.stderr.splitlines(True)
                        if not line.startswith(b"lotus: ") and not RESOURCE_TRACKER.match(line))
        return self.code, self.stdout, CHANGES.sub(b"(changes)", rest)


def run(command, cwd=None, timeout=PATIENCE, stdin=None, **environment):
    """Runs to the end in a process group of its own; returns the Outcome.

    Its children may write for ORPHANS_S after its end and are killed then: a fork server's workers never
    notice the program's end.
    """
    process = subprocess.Popen([str(word) for word in command], cwd=cwd, stdin=stdin or subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                               env=clean_environment(**environment))
    last = time.monotonic() + timeout
    while True:
        try:
            return Outcome(process, *process.communicate(timeout=1))
        except subprocess.TimeoutExpired:
            hangs = process.poll() is None
            if not hangs:
                last = min(last, time.monotonic() + ORPHANS_S)
            if time.monotonic() >= last:
                os.killpg(process.pid, signal.SIGKILL)
                if hangs:
                    raise


@functools.cache
def in_root(path):
    """Translates a path of the programs to one of the tests; links are resolved below the programs' root."""
    if not ROOT:
        return path
    told = subprocess.run(["chroot", ROOT, "readlink", "-f", path], capture_output=True, text=True).stdout.strip()
    return ROOT + (told or path)


@functools.cache
def lacks(*modules):
    """The reason to skip a test: modules that the programs' Python cannot import. None if it imports all."""
    code = ("import importlib, sys\nfor name in sys.argv[1:]:\n  try: importlib.import_module(name)\n"
            "  except Exception as error: print(f'{name} cannot be imported: {error}')")
    told = run([PYTHON, "-c", code, *modules]).stdout.decode().splitlines() if modules else []
    return told[0] if told else None


@functools.cache
def cannot_unshare(*options):
    """The reason to skip a test if a program cannot get namespaces of its own; None if it can."""
    if not shutil.which("unshare"):
        return "no unshare here"
    return run(["unshare", *options, "true"]).stderr.decode() or None


def wait_until(condition, what, timeout=PATIENCE):
    """Polls until condition() is true, and returns its result."""
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < end, f"waited {timeout} s in vain for {what}"
        time.sleep(0.05)


class Trace:
    """One trace file, read by lotus-analyze."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self._cache = {}

    def _ask(self, command, *options, read=json.loads):
        key = (command, *options)
        if key not in self._cache:
            outcome = run([ANALYZE, command, *options, self.path])
            assert outcome.code == 0, outcome.stderr.decode()
            self._cache[key] = read(outcome.stdout)
        return self._cache[key]

    @property
    def report(self):
        return self._ask("report", "--json")

    @property
    def info(self):
        return self._ask("info", "--json")

    @property
    def batches(self):
        return self._ask("batches", "--json")

    @property
    def records(self):
        return self._ask("dump", "--json", read=lambda text: [json.loads(line) for line in text.splitlines()])

    @property
    def spans(self):
        """The kinds of records that open a span."""
        text = self._ask("dump", "--schema", read=bytes.decode)
        rows = [line.split() for line in text.splitlines()]
        return {row[2] for row in rows if row[1] == "enter"}

    @property
    def text(self):
        return self._ask("report", read=bytes.decode)

    @property
    def stacks(self):
        """{stack: CPU time in µs}; a stack is a tuple of names, outermost first."""
        lines = [line.rpartition(" ") for line in self._ask("flame", read=bytes.decode).splitlines()]
        return {tuple(stack.split(";")): int(used) for stack, _, used in lines}

    def ops(self):
        """The op table by name."""
        table = {}
        for op in self.report["ops"]:
            assert op["name"] not in table, f"two rows for {op['name']}"
            table[op["name"]] = op
        return table

    def calls(self, name):
        """Each call of an operation."""
        return [truth_reader.Call(record["pid"], record["t_ns"], record["duration_ns"]) for record in self.records
                if record.get("closes") == "op" and record["name"] == name]

    def named(self, kind):
        return [record for record in self.records if record["kind"] == kind]


def is_complete(path):
    """Whether the collector has closed this trace."""
    if not path.exists():
        return False
    outcome = run([ANALYZE, "info", "--json", path])
    return outcome.code == 0 and not json.loads(outcome.stdout)["truncated"]


class Tracer:
    """Runs programs under the tracer, with segments and traces in directories of their own.

    Segments lie in memory, as by default: on a disk, writing to them would now and then wait for it.
    """

    def __init__(self, directory, library=LIBRARY):
        self.directory = pathlib.Path(directory)
        self._memory = pathlib.Path(tempfile.mkdtemp(prefix="lotus-test-", dir="/dev/shm"))
        self.segments = self._memory / "segments"
        self.library = library
        self._count = 0
        self._collector = None  # that we have started

    def environment(self, **more):
        """The environment of a traced program."""
        return {"LD_PRELOAD": self.library, "LOTUS_DIR": self.segments, **more}

    def run(self, command, output=None, **more):
        """Runs a traced program. Returns (Outcome, path of the trace) without waiting for the collector."""
        self._count += 1
        output = output or self.directory / f"{self._count}.lotus"
        self.start_collector()
        outcome = run(command, **self.environment(**{"LOTUS_OUTPUT": output, **more}))
        return outcome, pathlib.Path(output)

    def start_collector(self):
        """Where programs cannot do it themselves. It serves until close()."""
        if not EMULATED or self.collector_pid() is not None:
            return
        self.segments.mkdir(mode=0o700, exist_ok=True)
        self._collector = subprocess.Popen([COLLECTOR, "--quiet", "--dir", self.segments], env=clean_environment(),
                                           stdin=subprocess.DEVNULL, start_new_session=True)
        wait_until(self.collector_pid, "the collector to serve")

    def trace(self, command, **more):
        """Runs a traced program. Returns (Outcome, Trace) once the collector has closed the trace."""
        outcome, path = self.run(command, **more)
        wait_until(lambda: is_complete(path), f"the collector to finish {path}; {outcome.stderr!r}")
        return outcome, Trace(path)

    def collector_pid(self):
        """The pid of the collector that serves our segments; None if there is none."""
        try:
            pid = int((self.segments / "collector.lock").read_text().split()[0])
            name = pathlib.Path(f"/proc/{pid}/comm").read_text()
        except (OSError, ValueError, IndexError):
            return None
        return pid if name.startswith("lotus-collector"[:15]) else None

    def wait_for_collector(self):
        """Waits until the collector has ended by itself, with all data written."""
        wait_until(lambda: self.collector_pid() is None, "the collector to end")

    def left(self):
        """Names of the files in the directory of segments."""
        return sorted(path.name for path in self.segments.glob("*"))

    def close(self):
        """Waits for our collector to end by itself; ends it if it does not. Removes the segments."""
        if self._collector is not None:
            self._collector.terminate()
            self._collector.wait()
        try:
            self.wait_for_collector()
        finally:
            pid = self.collector_pid()
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self._memory)


def pure_program(*options, data, python=PYTHON):
    """The command line of the pipeline in pure Python, which brings its stand-in for PyTorch along."""
    return ["env", f"PYTHONPATH={FAKE_TORCH}", python, PROGRAMS / "pure.py", "--data", data, *options]


def played_pmu(directory):
    """A library to preload behind ours that plays a PMU; skips the test where it cannot be built."""
    if shutil.which("gcc") is None:
        import pytest  # see program()
        pytest.skip("no gcc here")
    made = directory / "played_pmu.so"
    source = PROGRAMS / "native/played_pmu.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", made, source], check=True)
    return made


def program(name, *options, data=None, python=PYTHON):
    """The command line of a test program; skips the test where the programs' Python cannot run it."""
    source = (PROGRAMS / f"{name}.py").read_text()
    needs = [module for module in ("cv2", "datasets", "numpy", "pandas", "PIL", "torchvision")
             if re.search(rf"^ *(import|from) {module}\b", source, re.MULTILINE)]
    if "import timed" in source:
        needs.append("torchvision")
    if python == PYTHON and (reason := lacks(*needs)):
        import pytest  # not at the top: scripts use this module without pytest

        pytest.skip(reason)
    return [python, PROGRAMS / f"{name}.py", *(["--data", data] if data else []), *options]
