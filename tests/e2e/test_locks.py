"""Waiting for a lock inside of a fetch is told, with the kind of lock and the operation; other waits are not."""
import json

import checks
import harness


def test_waits_for_locks(tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace(harness.program("locks"))
    assert outcome.code == 0, outcome.stderr.decode()
    truth = json.loads(outcome.stdout)
    told = {lock["name"]: lock for lock in trace.report["locks"]}
    names = {"threading.Lock": "lock", "threading.RLock": "recursive", "multiprocessing.Lock": "shared"}
    assert set(told) == set(names)
    for name, own in names.items():
        checks.near(told[name]["total_s"], truth[own], what=name)
        assert told[name]["op"] == "Waits.wait"
        assert told[name]["waits"] >= 9
    assert truth["event"] >= 0.2
