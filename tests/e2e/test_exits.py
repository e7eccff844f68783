"""Training that ends early: same output and exit code, and a trace with everything until then."""
import signal

import pytest

import checks
import harness

CODES = {"exception": 1, "exit": 3, "_exit": 4, "interrupt": -signal.SIGINT, "kill": -signal.SIGKILL,
         "kill-worker": 1}
BATCHES = 8 + 5  # handed out to training: the first epoch and five of the second


@pytest.mark.parametrize("how", sorted(CODES))
def test_end(how, pair, photos):
    run = pair(how, harness.program("exits", "--how", how, data=photos))
    assert run.bare.code == CODES[how]
    checks.same(run)
    assert run.trace.report["wait"]["count"] >= BATCHES
    consumed = [row for row in run.trace.batches if row["consumed_at_ns"] is not None]
    assert len(consumed) == BATCHES
    assert run.trace.report["trace"]["lost_events"] == 0
    [training] = [row for row in run.trace.info["processes"] if row["worker"] is None]
    assert training["ending"] == ("killed" if how == "kill" else "left")  # Ctrl-C lets Python end
    cut = [row for row in run.trace.report["cut_short"] if row["worker"] is None]
    if how == "kill":
        assert [(row["in"], row["batch"], row["pid"]) for row in cut] == [("the training step", 4, training["pid"])]
        assert "the training step" in run.trace.text
    elif how != "kill-worker":
        assert cut == []


def test_operations_of_a_worker_that_left_by_a_signal(pair, photos):
    """Records of the killed worker were in shared memory, and are in the trace."""
    run = pair("kill-worker", harness.program("exits", "--how", "kill-worker", data=photos))
    by_pid = {fetch.pid for fetch in run.truth.fetches}
    assert {row["worker_pid"] for row in run.trace.batches if row["fetch_ns"] is not None} >= by_pid
