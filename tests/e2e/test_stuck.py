"""A program that hangs, looked at while it hangs: what is stuck, in what, since when. Once it has ended, nothing is."""
import os
import signal
import subprocess
import time

import pytest

import harness

STUCK, BATCH, WORKERS = 21, 4, 2  # as in programs/hangs.py
AGE_S = 5  # from which on the collector looks


class Hanging:
    """A program that hangs until end()."""

    def __init__(self, tracer):
        self.tracer, self.path = tracer, tracer.directory / "hangs.lotus"
        environment = harness.clean_environment(**tracer.environment(LOTUS_OUTPUT=self.path))
        self.process = subprocess.Popen(harness.program("hangs"), env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.pid, self.since_ns = map(int, self.process.stdout.readline().split())

    def look(self):
        return harness.Trace(self.path)

    def rows(self):
        return self.look().report["stuck"] if self.path.exists() else []

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.write("\n")
            self.process.stdin.close()
            self.process.wait(harness.PATIENCE)
            os.kill(self.pid, signal.SIGKILL)  # it would hang without its parent, too
            self.process.stdout.close()
        harness.wait_until(lambda: harness.is_complete(self.path), "the trace to be closed")


@pytest.fixture(scope="module")
def hanging(tmp_path_factory, tracers):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("hangs")))
    hanging = Hanging(tracers[-1])
    try:
        harness.wait_until(lambda: len(hanging.rows()) >= 2, "worker and training process to be stuck")
        yield hanging
    finally:
        hanging.end()


def test_the_worker_is_named_with_its_operation_and_sample(hanging):
    [row] = [row for row in hanging.rows() if row["pid"] == hanging.pid]
    assert (row["in"], row["index"], row["batch"]) == ("Locks", STUCK, STUCK // BATCH)
    assert row["worker"] == STUCK // BATCH % WORKERS


def test_how_long_at_least(hanging):
    [row] = [row for row in hanging.rows() if row["pid"] == hanging.pid]
    assert row["at_least_ms"] >= 1000 * AGE_S
    assert row["at_least_ms"] * 1e6 <= row["seen_ns"] - hanging.since_ns + 1e8
    assert row["seen_ns"] <= time.time_ns()


def line_of(text, nth):
    """Number of the nth line of programs/hangs.py that is `text`."""
    lines = (harness.PROGRAMS / "hangs.py").read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.strip() == text][nth]


def test_at_which_lines_it_stands(hanging):
    [row] = [row for row in hanging.rows() if row["pid"] == hanging.pid]
    frames = [(frame["function"].rpartition(".")[2], frame["file"].rpartition("/")[2], frame["line"])
              for frame in row["frames"]]
    assert frames[0] == ("__call__", "hangs.py", line_of("lock.acquire()", 1)), frames
    assert ("__getitem__", "hangs.py", line_of("return self.transform(i)", 0)) in frames[:4], frames
    assert frames[-1] == ("<module>", "hangs.py", line_of("main()", 0)), frames


def test_the_first_sentence_says_it(hanging):
    message = hanging.look().report["verdict"]["message"]
    assert message.startswith("Training does not go on"), message
    assert f"hangs.py:{line_of('lock.acquire()', 1)}" in message, message


def test_training_waits_for_it(hanging):
    assert "waiting for a batch" in [row["in"] for row in hanging.rows() if row["worker"] is None]


def test_the_other_worker_is_not_stuck(hanging):
    assert {row["pid"] for row in hanging.rows() if row["worker"] is not None} == {hanging.pid}


def test_it_stands_on_top(hanging):
    lines = hanging.look().text.splitlines()
    assert any("Does not go on" in line for line in lines[:18])
    assert any("Locks" in line and f"worker {STUCK // BATCH % WORKERS}" in line for line in lines[:22])


def test_nothing_is_stuck_once_it_has_ended(tracer):
    hanging = Hanging(tracer)
    harness.wait_until(hanging.rows, "it to be stuck")
    hanging.end()
    report = hanging.look().report
    assert report["stuck"] == []
    assert "Locks" in [row["in"] for row in report["cut_short"]]
    assert hanging.look().info["damaged"]["count"] == 0
