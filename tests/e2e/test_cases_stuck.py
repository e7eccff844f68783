"""The program of a public report that hangs for ever, looked at while it hangs."""
import os
import signal
import subprocess

import pytest

import harness
import situations

NAME = "cases/lock_held_at_fork"


@pytest.fixture(scope="module")
def hanging(tmp_path_factory, tracers):
    """Its trace, once both workers and training are seen not to go on."""
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("hangs")))
    path = tracers[-1].directory / "hangs.lotus"
    environment = harness.clean_environment(**tracers[-1].environment(LOTUS_OUTPUT=path))
    process = subprocess.Popen(harness.program(NAME, "bad"), env=environment, start_new_session=True)
    try:
        harness.wait_until(lambda: path.exists() and len(harness.Trace(path).report["stuck"]) >= 3, "all to be stuck")
        yield harness.Trace(path)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_what_does_not_go_on_stands_on_top(hanging):
    lines = hanging.text.splitlines()
    assert any("Does not go on" in line for line in lines[:14]), lines[:20]


def test_each_worker_is_named_with_its_function(hanging):
    rows = {row["worker"]: row for row in hanging.report["stuck"]}
    assert rows.keys() == {0, 1, None}
    assert all("transform" in str(rows[worker]) for worker in (0, 1)), rows


def test_nothing_is_stuck_without_the_thread(tracer):
    outcome, trace = tracer.trace(harness.program(NAME, "fix"))
    assert outcome.code == 0
    assert trace.report["stuck"] == []
    assert "lock" not in situations.causes(trace.report["verdict"])
