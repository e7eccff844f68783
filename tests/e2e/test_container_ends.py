"""The end of a container's first process kills all others: the collector has completed the trace before."""
import pytest

import harness
import sound

NAMESPACE = ["--pid", "--mount-proc", "--fork"]
CONTAINER = ["unshare", *NAMESPACE]
BELOW = {"first process": [], "below a script": ["sh", "-c", '"$@"; exit $?', "sh"]}
CODES = {"exception": 1, "exit": 3, "_exit": 4}
# A process that is not the first one waits for others at most a second, so this combination has no complete
# trace.
CASES = [(below, how) for below in BELOW for how in CODES if (below, how) != ("below a script", "_exit")]
BATCHES = 8 + 5  # the first epoch and five of the second
RANK = f"""import os, sys, time
sys.path.insert(0, {str(harness.PROGRAMS)!r})
import classify
if __name__ == "__main__":
    classify.main()
    time.sleep(3 * int(os.environ["RANK"]))
"""


@pytest.fixture(scope="module", autouse=True)
def container():
    if why := harness.cannot_unshare(*NAMESPACE):
        pytest.skip(why)


def handed_out(trace):
    return sum(row["consumed_at_ns"] is not None for row in trace.batches)


@pytest.mark.parametrize("below, how", CASES)
def test_trace_is_whole(below, how, tracer, photos):
    outcome, path = tracer.run([*CONTAINER, *BELOW[below], *harness.program("exits", "--how", how, data=photos)])
    assert outcome.code == CODES[how]
    assert harness.is_complete(path), outcome.stderr.decode()
    trace = harness.Trace(path)
    assert sound.problems(trace) == []
    assert handed_out(trace) == BATCHES
    assert b"!?" not in harness.run([harness.ANALYZE, "map", path]).stdout


def test_others_that_live_on_are_not_waited_for(tracer, photos):
    """A training below a script leaves by os._exit; its workers notice that only seconds later."""
    outcome, path = tracer.run([*CONTAINER, *BELOW["below a script"], *harness.program("exits", "--how", "_exit", data=photos)])
    assert outcome.code == CODES["_exit"]
    trace = harness.Trace(path)
    assert sound.problems(trace) == ["truncated"]
    assert handed_out(trace) == BATCHES


def test_ranks_that_end_one_after_the_other(tracer, photos):
    """The launcher is the first process; the last rank to end waits for the trace."""
    script = tracer.directory / "rank.py"
    script.write_text(RANK)
    launched = [harness.PYTHON, harness.PROGRAMS / "launch.py", 2, script, "--data", photos, "--epochs", 1]
    outcome, path = tracer.run([*CONTAINER, *launched])
    assert outcome.code == 0, outcome.stderr.decode()
    assert harness.is_complete(path)
    trace = harness.Trace(path)
    assert sound.problems(trace) == []
    assert handed_out(trace) == 2 * 8
