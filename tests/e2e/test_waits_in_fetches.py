"""Where fetches wait: each call of 10 ms or more, its time and the function that it is made in."""
import collections
import subprocess

import pytest

import checks
import harness

LEAST = 0.010
# What each function waits in, by version of Python and libc.
CALLS = {"nap": {"clock_nanosleep", "select"}, "locked": {"sem_wait", "sem_clockwait", "sem_timedwait"},
         "asked": {"recv"}, "child": {"waitpid", "wait4"}, "__getitem__": {"clock_nanosleep", "select"}}


@pytest.fixture
def traced(measured):
    return measured("waits", lambda directory: harness.program("waits", directory / "log"))


def waits_of(trace, function):
    """Of `child`, the standard library waits; below it that is an operation of its own."""
    own = [wait for wait in trace.report["waits_in_fetches"] if wait["call"] in CALLS[function]]
    if function == "child":
        return [wait for wait in own if wait["through"] or wait["function"].startswith("Popen")]
    return [wait for wait in own if wait["function"] == f"Labels.{function}"]


@pytest.mark.parametrize("function", CALLS)
def test_each_long_wait_is_told(traced, function):
    """As many as the program measured, give or take those that are just as long as the limit."""
    spent, waits = traced.truth[function], waits_of(traced.trace, function)
    told = sum(wait["count"] for wait in waits)
    checks.agree(sum(s > LEAST * 1.2 for s in spent) <= told <= sum(s >= LEAST for s in spent), told, spent)
    total = sum(wait["total_ms"] for wait in waits) / 1000
    checks.agree(0.8 * LEAST * told < total <= 1.01 * sum(spent), total, spent)


def test_place(traced):
    nap, = waits_of(traced.trace, "nap")
    assert nap["file"].endswith("waits.py")
    with open(nap["file"], encoding="utf-8") as source:
        assert "def nap" in source.read().splitlines()[nap["line"] - 1]


def test_records_lie_in_fetches(traced):
    """The program's threads wait, too, and workers for work: none of these is recorded."""
    trace = traced.trace
    times = [s for seconds in traced.truth.values() for s in seconds]
    assert sum(wait["count"] for wait in trace.report["waits_in_fetches"]) == len(trace.named("off_cpu"))
    assert len(trace.named("off_cpu")) <= 3 * sum(s >= LEAST for s in times)
    assert not [wait for wait in trace.report["waits_in_fetches"]
                if wait["function"] and wait["function"].split(".")[-1] in ("hold", "answer", "_worker_loop")]


def test_flame(traced):
    trace = traced.trace
    lines = subprocess.run([harness.ANALYZE, "flame", "--waiting", trace.path], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    drawn = collections.Counter()
    for line in lines:
        stack, us = line.rsplit(" ", 1)
        drawn[stack.split(";")[-1]] += int(us)
    told = collections.Counter()
    for wait in trace.report["waits_in_fetches"]:
        told[wait["call"]] += wait["total_ms"] * 1000
    assert drawn.keys() == told.keys()
    for call, us in told.items():
        assert drawn[call] == pytest.approx(us, abs=100)


def test_without_stacks(tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace([*harness.program("waits"), tmp_path / "log"], LOTUS_SAMPLE_HZ=0)
    assert outcome.code == 0
    assert not trace.named("off_cpu") and trace.report["waits_in_fetches"] == []
