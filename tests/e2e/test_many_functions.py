"""Functions that take next to nothing are one line of the report: tests/programs/many_functions.py."""
import harness


def operations(text):
    return text.split("\nOperations")[1].split("\n\n")[0]


def test_folded_unless_asked_for(tracer):
    outcome, trace = tracer.trace(harness.program("many_functions"))
    assert outcome.code == 0, outcome.stderr
    checks = ["check_0", "check_1", "check_2"]
    assert set(checks) | {"decode", "dedent"} <= set(trace.ops())  # JSON has all of them
    # A busy machine may interrupt any of them for longer than 0.1 % of all.
    whole = sum(op["self_s"] for op in trace.ops().values())
    small = [name for name in (*checks, "dedent") if trace.ops()[name]["self_s"] < 0.001 * whole]
    table = operations(trace.text)
    assert "decode" in table and small and not any(name in table for name in small)
    assert f"and {len(small)} more below 0.1 %, in report --all" in table
    everything = operations(trace._ask("report", "--all", read=bytes.decode))
    assert all(check in everything for check in checks) and "more below" not in everything
    assert "textwrap.dedent" in everything
