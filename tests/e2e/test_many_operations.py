"""More operations than there are numbers: those beyond share a row, and none is without a name."""
import harness


def test_all_calls_are_in_rows_with_names(tracer):
    outcome, trace = tracer.trace(harness.program("many_operations"))
    assert outcome.code == 0, outcome.stderr
    counts = {op["name"]: op["count"] for op in trace.report["ops"] if op["role"] != "runner"}
    others = counts["(other operations)"]
    own = {name: count for name, count in counts.items() if name.startswith("Own")}
    assert len(own) > 1000 and set(own.values()) == {4} and others > 0
    assert sum(own.values()) + others == int(outcome.stdout)
    assert not any("lost" in name for name in counts) or trace.report["trace"]["lost_definitions"] > 0
