"""Programs that do what may break a tracer inside them: same output and exit code, and a valid trace.

One small program for each case (tests/programs/hostile), with stack samples at the highest rate.
"""
import concurrent.futures
import ctypes.util
import os
import re
import shutil
import subprocess
import sys

import pytest

import harness
import sound

HOSTILE = harness.PROGRAMS / "hostile"
NOT_PERMITTED = 77  # exit code of a program that lacks permission for its case
LIBPYTHON = f"libpython{sys.version_info[0]}.{sys.version_info[1]}.so.1.0"
PDB = b"""break stop_here
continue
where
args
next
print(marker)
until
step
up
print(index)
tbreak work.py:22
clear 1
y
continue
longlist
display value
return
continue
quit
"""


# When the first process of a namespace ends, the kernel kills all others: this one waits for the collector.
OUTLIVED = """"$@"; code=$?
while [ -e "$LOTUS_DIR/collector.lock" ] && ! flock -n "$LOTUS_DIR/collector.lock" true; do sleep 0.05; done
exit $code"""


class Case:
    """A program with its arguments, in which `{new}` is a new directory and `{native}` that of the libraries.

    `made`: batches in its trace, if not the number that the program prints; `more`: how many more it may
    have. `before`: words before the command. `own`: whether it gets a collector of its own.
    """

    def __init__(self, name, program, *arguments, code=0, made=None, more=0, before=(), stdin=None, python=(), hides=None,
                 own=False, root=False, asked=None, needs=()):
        self.name, self.program, self.arguments = name, program, arguments
        self.code, self.made, self.more, self.before, self.stdin = code, made, more, before, stdin
        self.python, self.hides, self.own = python, hides, own
        self.root, self.asked, self.needs = root, asked, needs

    def why_not(self):
        """The reason why this machine cannot run it; None if it can."""
        if self.root and os.geteuid() != 0:
            return "only root may do this"
        if self.asked is not None and os.environ.get(self.asked) != "1":
            return f"disturbs the whole machine: only where {self.asked}=1 asks for it"
        if self.program == "embedding" and ctypes.util.find_library(LIBPYTHON[3:].split(".so")[0]) is None:
            return f"no {LIBPYTHON} here"
        return next((f"no {word} here" for word in self.needs if not shutil.which(word)), None)

    def command(self, new, native):
        arguments = [str(word).format(new=new, native=native) for word in self.arguments]
        program = native / self.program if self.program == "embedding" else HOSTILE / self.program
        python = [] if self.program == "embedding" else [harness.PYTHON, *self.python]
        return [*self.before, *python, program, *arguments]


def native(case, **options):
    return Case(case, "native.py", case, "{native}", needs=["gcc"], **options)


CASES = [
    Case("fork in a hook", "fork_in_hook.py"),
    Case("closing all descriptors", "close_all.py"),
    Case("os._exit", "exit_anywhere.py", code=5),
    Case("starting programs", "spawn.py"),
    Case("exec", "execute.py", code=7),
    Case("recursion", "recursion.py"),
    Case("short threads", "threads.py"),
    Case("settrace and setprofile", "observed.py"),
    Case("pdb", "debugged.py", python=["-m", "pdb"], stdin=PDB),
    Case("coverage", "covered.py"),
    Case("faulthandler", "faults.py", code=-11, hides=rb"0x[0-9a-f]+"),
    Case("subinterpreters", "interpreters.py"),
    Case("strange imports", "imports.py"),
    Case("objects that let go of themselves", "rebinding.py"),
    Case("a thread that lists libraries", "listing.py"),
    Case("a title over the environment", "titled.py"),
    Case("adopting orphans", "subreaper.py", own=True),
    Case("greenlets", "greenlets.py", made=8, more=50),
    Case("development mode", "debugged.py", python=["-X", "dev"]),
    Case("limits before", "limits.py", "before", made=0),
    Case("limits between", "limits.py", "between", made=4),
    Case("stop and continue", "stopped.py"),
    Case("another user", "other_user.py", root=True, made=12),
    Case("another root", "other_root.py", "{new}", root=True, made=8),
    Case("other namespaces", "other_namespaces.py", "between", root=True),
    Case("other namespaces first", "other_namespaces.py", "before", root=True),
    Case("one pid again and again", "same_pid.py", root=True, own=True, needs=["unshare", "flock"],
         before=["unshare", "--pid", "--mount-proc", "--fork", "sh", "-c", OUTLIVED, "sh"]),
    Case("the clock is set", "set_clock.py", root=True, asked="LOTUS_TEST_SET_CLOCK"),
    native("handlers"),
    native("cancelled"),
    native("cancelled_python"),
    native("evaluator", made=28),
    native("deep_binding"),
    native("run_path"),
    native("borrowed_stack"),
    native("small_stack"),
    Case("a thread older than torch", "early_thread.py", "{native}", needs=["gcc"]),
    Case("Python begins and ends", "embedding", HOSTILE, "3", code=6, needs=["gcc"]),
]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """libhostile.so, the plugin that it finds by its RUNPATH, and the embedding program."""
    directory = tmp_path_factory.mktemp("native")
    directory.chmod(0o755)
    (directory / "plugins").mkdir()
    shared = ["gcc", "-shared", "-fPIC", "-O1", "-pthread"]
    subprocess.run([*shared, "-o", directory / "plugins/libplugin.so", HOSTILE / "c/plugin.c"], check=True)
    subprocess.run([*shared, "-Wl,--enable-new-dtags,-rpath,$ORIGIN/plugins", "-o", directory / "libhostile.so",
                    HOSTILE / "c/hostile.c"], check=True)
    subprocess.run(["gcc", "-o", directory / "embedding", HOSTILE / "c/embedding.c", f"-l:{LIBPYTHON}"],
                   capture_output=True)
    return directory


class Run:
    """A case, run with and without the tracer."""

    def __init__(self, case, tracer, directory, libraries):
        self.case = case
        self.bare = self._run(directory / "bare", libraries)
        output = directory / "trace.lotus"
        more = tracer.environment(LOTUS_OUTPUT=output, LOTUS_SAMPLE_HZ="4999", LOTUS_LOG=directory / "log")
        if case.own:
            more["LOTUS_DIR"] = directory / "segments"
        self.traced = self._run(directory / "traced", libraries, **more)
        self.log = directory / "log"
        self.path = output

    def _run(self, new, libraries, **more):
        new.mkdir(parents=True)
        commands = new / "stdin"
        if self.case.stdin is not None:
            commands.write_bytes(self.case.stdin)
        with open(commands if self.case.stdin is not None else os.devnull, "rb") as stdin:
            return harness.run(self.case.command(new / "root", libraries), stdin=stdin,
                               PYTHONPATH=harness.FAKE_TORCH, **more)

    def visible(self, outcome):
        code, stdout, stderr = outcome.visible
        return code, stdout, stderr if self.case.hides is None else re.sub(self.case.hides, b"", stderr)


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory, tracers, libraries):
    """{name: Run} of all selected cases, which run in parallel with one collector."""
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("hostile")))
    wanted = {item.callspec.params["name"] for item in request.session.items if item.module is request.module}
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        futures = {case.name: pool.submit(Run, case, tracers[-1], tmp_path_factory.mktemp("case"), libraries)
                   for case in CASES if case.name in wanted and case.why_not() is None}
        yield futures


def made(run):
    """The number of batches that the trace should have, as printed by the program or given by the case."""
    if run.case.made is not None:
        return run.case.made
    return int(re.findall(rb"^fetches (\d+)$", run.bare.stdout, re.MULTILINE)[-1])


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_unharmed_and_recorded(name, runs, tracers):
    case = next(case for case in CASES if case.name == name)
    if case.why_not() is not None:
        pytest.skip(case.why_not())
    run = runs[name].result()
    if run.bare.code == NOT_PERMITTED:
        pytest.skip(run.bare.stdout.decode().strip())
    assert run.visible(run.traced) == run.visible(run.bare)
    assert run.bare.code == case.code, run.bare
    assert len(run.traced.lotus_lines) == 1
    if made(run) == 0:
        assert not run.path.exists()
        return
    harness.wait_until(lambda: collected(run, tracers[-1]), f"the collector to finish {run.path}")
    trace = harness.Trace(run.path)
    assert sound.problems(trace) == []
    assert made(run) <= trace.report["batches"]["count"] <= made(run) + case.more


def collected(run, tracer):
    """Whether the trace is complete. Collects it if the program could not start a collector."""
    complete = harness.is_complete(run.path)
    if not complete and "lotus-collector` is run" in run.traced.lotus_lines[0]:
        harness.run([harness.COLLECTOR, "--drain"], LOTUS_DIR=tracer.segments)
    return complete
