"""The operation that takes longest runs in a thread that the fetch waits for: tests/programs/beside_fetches.py."""
import json

import harness


def test_the_longest_operation_is_named(tracer):
    outcome, trace = tracer.trace(harness.program("beside_fetches"))
    assert outcome.code == 0, outcome.stderr
    spent, verdict = json.loads(outcome.stdout), trace.report["verdict"]
    assert spent["decoded"] > 3 * spent["checked"]
    assert verdict["dominant_op"] == "decoded"
    [message] = [cause["message"] for cause in verdict["causes"] if cause["cause"] == "op"]
    assert message.startswith("decoded takes") and "thread beside" in message
