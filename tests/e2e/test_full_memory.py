"""The file system of the segments fills up while a program is traced: it goes on, and what is lost is counted."""
import json

import pytest

import harness

# A file system of 300 MiB, in a mount namespace of its own; drained when the program has ended.
SMALL = """
mkdir -m 0700 -p "$LOTUS_DIR" && mount -t tmpfs -o size=300m,mode=0700 tmpfs "$LOTUS_DIR" || exit 99
collector=$1
shift
"$@" && exec "$collector" --drain"""


def test_full_while_traced(tracer):
    if why := harness.cannot_unshare("-m"):
        pytest.skip(why)
    command = harness.program("fills_memory", str(tracer.segments), "200")
    outcome, path = tracer.run(["unshare", "-m", "sh", "-c", SMALL, "sh", harness.COLLECTOR, *command], LOTUS_AUTOSTART=0)
    assert outcome.code == 0, outcome.stderr.decode()
    told = json.loads(outcome.stdout.splitlines()[0])
    assert told["made"] == 200
    assert told["size"] > 280 << 20  # the segment itself had taken little of the room
    report = harness.Trace(path).report
    assert report["trace"]["lost_events"] > 0
    assert told["before"] <= report["batches"]["count"] < told["made"]
