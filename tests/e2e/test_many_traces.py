"""More traces than files may be open: the limit is raised where it may be, else the error says what to do."""
import shutil

import pytest

import harness


@pytest.fixture
def traces(tracer, texts):
    _, trace = tracer.trace(harness.pure_program(data=texts))
    names = [tracer.directory / f"rank-{number}.lotus" for number in range(80)]
    for name in names:
        shutil.copy(trace.path, name)
    return names


@pytest.mark.parametrize("command", [("report",), ("report", "--json"), ("map",)])
def test_limit_that_can_be_raised(traces, command):
    outcome = harness.run(["prlimit", "--nofile=64:256", harness.ANALYZE, *command, *traces])
    assert outcome.code == 0 and outcome.stdout and outcome.stderr == b""


def test_limit_that_cannot_be_raised(traces):
    outcome = harness.run(["prlimit", "--nofile=64:64", harness.ANALYZE, "report", *traces])
    assert outcome.code == 1 and outcome.stdout == b""
    assert b"no more than 64 may be; raise the limit (ulimit -n), or name fewer traces" in outcome.stderr
    assert outcome.stderr.count(b"\n") == 1
