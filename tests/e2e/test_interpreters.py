"""Every CPython on the machine, with a stand-in for PyTorch and a pipeline in pure Python."""
import json
import re
import subprocess

import pytest

import checks
import harness
import interpreters

SUPPORTED = {**interpreters.supported(), **interpreters.free_threaded()}
DEBUG = interpreters.supported("d")
REFUSED = interpreters.free_threaded(wanted=False)
OTHERS = {".".join(map(str, v)): path for v, path in interpreters.found().items() if (3, 6) <= v < interpreters.OLDEST}
CASES = {
    "folder": [],
    "inline": ["--workers", "0"],
    "four": ["--workers", "4"],
    "spawn": ["--start-method", "spawn"],
    "forkserver": ["--start-method", "forkserver"],
    "persistent": ["--persistent"],
    "pinned": ["--pin-memory"],
    "uneven": ["--kind", "uneven"],
    "plain": ["--kind", "plain"],
    "stream": ["--kind", "stream"],
}


def machine_of(python):
    return subprocess.run([python, "-c", "import platform; print(platform.machine())"], capture_output=True,
                          text=True).stdout.strip()


def run_both(pair, python, name, texts, *options, shape="1"):
    command = harness.program("pure", *options, data=texts, python=python)
    # Whether a queue's thread is still there at the next fork, which Python warns of, is chance.
    return pair(f"{python}-{name}-{shape}", command, PYTHONPATH=harness.FAKE_TORCH, LOADER_SHAPE=shape,
                PYTHONWARNINGS="ignore::DeprecationWarning")


def test_an_interpreter_was_found():
    assert SUPPORTED


@pytest.mark.parametrize("case", sorted(CASES))
@pytest.mark.parametrize("python", sorted(SUPPORTED))
def test_truth(python, case, pair, texts):
    run = run_both(pair, SUPPORTED[python], case, texts, *CASES[case])
    checks.same(run)
    checks.whole(run)
    checks.ops(run)
    if case == "stream":
        checks.fetches(run)
    else:
        checks.batches(run)
    checks.summary(run)
    assert run.trace.info["processes"][0]["python"].startswith(python.rstrip("td") + ".")
    assert run.trace.info["processes"][0]["architecture"] == machine_of(SUPPORTED[python])


@pytest.mark.parametrize("shape", ["2.6", "2"])
@pytest.mark.parametrize("python", sorted(SUPPORTED))
def test_newer_shape_of_the_loader(python, shape, pair, texts):
    """Newer versions of PyTorch count received batches elsewhere; both with and without reordered batches."""
    run = run_both(pair, SUPPORTED[python], "uneven", texts, "--kind", "uneven", shape=shape)
    checks.everything(run)
    run = run_both(pair, SUPPORTED[python], "any-order", texts, "--kind", "uneven", "--any-order", shape=shape)
    checks.same(run)
    checks.whole(run)
    checks.ops(run)


@pytest.mark.parametrize("python", sorted(OTHERS))
def test_older_than_supported(python, tracer):
    """Unharmed, and one line about it, where an import can be noticed (3.8)."""
    command = [OTHERS[python], "-c", "import torch; print(torch)"]
    (tracer.directory / "torch.py").write_text("class Tensor: pass\n")
    bare = harness.run(command, PYTHONPATH=tracer.directory)
    traced, trace = tracer.run(command, PYTHONPATH=tracer.directory)
    assert traced.visible == bare.visible and traced.code == 0
    reason = "Python is not one of 3.9 to 3.15"
    told = [f"lotus: not tracing process {traced.pid}: {reason}"] if python.startswith("3.8.") else []
    assert traced.lotus_lines == told
    assert not trace.exists() and not tracer.segments.exists()


@pytest.mark.parametrize("python", sorted(DEBUG))
def test_debug_builds(python, pair, texts):
    """They assert what other builds take for granted."""
    checks.everything(run_both(pair, DEBUG[python], "debug", texts))


@pytest.mark.parametrize("python", sorted(REFUSED))
def test_other_free_threaded_builds(python, tracer, texts):
    """Where threads run at once, each version's objects have to be known: else, one line a program says so."""
    command = harness.program("pure", data=texts, python=REFUSED[python])
    bare = harness.run(command, PYTHONPATH=harness.FAKE_TORCH)
    traced, trace = tracer.run(command, PYTHONPATH=harness.FAKE_TORCH)
    assert traced.visible == bare.visible and traced.code == 0
    version = python.rstrip("td")
    reason = f"free-threaded Python {version} is not supported"
    assert traced.lotus_lines == [f"lotus: not tracing process {traced.pid}: {reason}"]
    assert not trace.exists() and not tracer.segments.exists()


@pytest.mark.parametrize("python", sorted(SUPPORTED | DEBUG))
def test_deep_recursion(python, tracer):
    """Recursion is as deep as without tracer, although its evaluator takes C stack for each call."""
    command = harness.program("recursion", python=(SUPPORTED | DEBUG)[python])
    bare = harness.run(command, PYTHONPATH=harness.FAKE_TORCH)
    traced, _ = tracer.run(command, PYTHONPATH=harness.FAKE_TORCH)
    assert traced.visible == bare.visible and bare.code == 0


@pytest.mark.parametrize("program, options", [("held", ["index"]), ("held", ["items"]), ("decorated", ["list"]),
                                              ("decorated", ["called"]), ("other_callables", [])])
@pytest.mark.parametrize("python", sorted(SUPPORTED))
def test_operations_found_by_rule(python, program, options, tracer):
    """Where a frame keeps its arguments, its function and what that closes over differs."""
    command = harness.program(program, *options, python=SUPPORTED[python])
    outcome, trace = tracer.trace(command, PYTHONPATH=harness.FAKE_TORCH)
    assert outcome.code == 0, outcome.stderr
    told = json.loads(outcome.stdout)
    calls = dict(zip(("First", "Second"), zip(*told))) if program == "held" else told
    for name, op in trace.ops().items():
        name = re.sub(r".*\((.*)\)", r"\1", name)  # wrapper(function)
        if name in calls:
            seconds = calls.pop(name)
            assert op["count"] == len(seconds), name
            assert sum(seconds) <= op["total_s"], name
            checks.agree(op["total_s"] <= sum(seconds) + len(seconds) * 1e-3, name)
    assert set(calls) <= ({"Record"} if minor_of(python) >= 12 else set())


@pytest.mark.parametrize("python", sorted(SUPPORTED))
def test_names_of_loaders(python, tracer):
    """Instructions differ, and so does where a frame says it is."""
    outcome, trace = tracer.trace(harness.program("named_loaders", python=SUPPORTED[python]),
                                  PYTHONPATH=harness.FAKE_TORCH)
    told = json.loads(outcome.stdout)
    assert [[one["variable"], one["line"], one["epoch_batches"]] for one in trace.report["loaders"]] == told


def minor_of(python):
    return int(python.rstrip("td").split(".")[1])
