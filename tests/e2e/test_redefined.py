"""New functions at the addresses of deleted ones get their own names."""
import collections
import json

import pytest

import checks
import harness


def test_each_version_has_its_own_name(tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace(harness.program("redefined"))
    truth = json.loads(outcome.stdout)
    if truth["places_used_again"] == 0:
        pytest.skip("no code came to lie where other code was")
    calls = {op["name"]: op["count"] for op in trace.report["ops"] if op["name"].startswith("version_")}
    assert calls == {f"version_{number}": 8 for number in range(truth["versions"])}


def test_stacks_name_the_function_that_ran(tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace(harness.program("redefined_helpers"), LOTUS_SAMPLE_HZ=250)
    truth = json.loads(outcome.stdout)
    if truth["places_used_again"] == 0:
        pytest.skip("no code came to lie where other code was")
    seen = collections.Counter()
    for stack, used in trace.stacks.items():
        seen.update(dict.fromkeys(stack, used))
    used = [seen[f"helper_{number}"] for number in range(truth["versions"])]
    # All took the same CPU time; each has some 24 samples, half as many on a busy machine.
    checks.agree(min(used) > 0.1 * max(used), used)


def test_what_changes_while_it_runs(tmp_path, tracers):
    """A frame is classified again after its runner, its class or its dataset has changed."""
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace(harness.program("replaced"))
    truth = json.loads(outcome.stdout)
    calls = collections.Counter()
    for op in trace.report["ops"]:  # one row per loader
        calls[op["name"]] += op["count"]
    assert {name: calls[name] for name in truth} == truth
    assert set(calls) - {"Collation", "Compose", "Changing.change"} == set(truth), calls
