"""The program's functions that a library calls deep inside its code, and a library's functions that call into
another one, are operations: tests/programs/borders.py."""
import json

import pytest

import checks
import harness

WORKERS = 2


def spent_and_ops(tracer, kind):
    outcome, trace = tracer.trace(harness.program("borders", kind))
    assert outcome.code == 0, outcome.stderr
    return json.loads(outcome.stdout), trace


def agrees(op, spent):
    # The call begins before the program's own measurement and ends after it.
    checks.agree(0.9 * sum(spent) <= op["total_s"] <= sum(spent) + len(spent) * 1e-3, op["name"])


@pytest.mark.parametrize("kind", ["streamed", "pooled"])
def test_the_programs_function(kind, tracer):
    spent, trace = spent_and_ops(tracer, kind)
    ops = trace.ops()
    assert ops["tokenize"]["count"] == len(spent)
    agrees(ops["tokenize"], spent)
    assert not [name for name in ops if "result" in name]  # waiting for the pool
    assert max(ops.values(), key=lambda op: op["share_percent"])["name"] == "tokenize"


def test_a_librarys_decoder(tracer):
    spent, trace = spent_and_ops(tracer, "decoded")
    op = trace.ops()["Picture.decode_example"]
    # Each worker knows it from its first call on.
    assert len(spent) - WORKERS <= op["count"] <= len(spent)
    agrees(op, spent)


def test_a_librarys_modules(tracer):
    spent, trace = spent_and_ops(tracer, "modules")
    op = trace.ops()["Step"]
    assert op["count"] == len(spent)
    agrees(op, spent)


def test_shares_add_up(tracer):
    _, trace = spent_and_ops(tracer, "pooled")
    assert sum(op["share_percent"] for op in trace.report["ops"]) <= 100.1
