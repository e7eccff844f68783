"""What a runner does itself between its operations is a row by its name: tests/programs/own_work.py."""
import json

import checks
import harness


def test_own_work_is_a_row(tracer):
    outcome, trace = tracer.trace(harness.program("own_work", "checking"), LOTUS_SAMPLE_HZ=997)
    spent = json.loads(outcome.stdout)
    op = trace.ops()["Checking"]
    assert op["role"] == "runner"
    assert op["count"] == len(spent)
    checks.agree(sum(spent) <= op["total_s"] <= sum(spent) + len(spent) * 1e-3)
    checks.agree(trace.report["outside_ops_s"] < 0.2 * sum(spent), "outside")
    functions = harness.run([harness.ANALYZE, "map", "--op", "Checking", trace.path]).stdout.decode()
    assert "work" in functions


def test_calling_in_turn_is_none(tracer):
    _, trace = tracer.trace(harness.program("own_work", "plain"))
    assert set(trace.ops()) == {"First", "Second", "Collation"}
