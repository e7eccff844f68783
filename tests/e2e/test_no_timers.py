"""A limit of pending signals that leaves no room for timers: stacks are not sampled, and commands say why."""
import pytest

import harness


@pytest.fixture
def trace(tracer, texts):
    bare = harness.run(["prlimit", "--sigpending=0", *harness.pure_program(data=texts)])
    outcome, trace = tracer.trace(["prlimit", "--sigpending=0", *harness.pure_program(data=texts)])
    assert outcome.visible == bare.visible and outcome.code == 0
    return trace


def test_commands_say_why_and_what_to_do(trace):
    why = "the limit of pending signals (ulimit -i) of 0 leaves no room; raise it"
    told = [record for record in trace.named("timers_refused")]
    assert told and {record["limit"] for record in told} == {0}
    assert trace.report["trace"]["timers_refused"] == len({record["pid"] for record in told}) == len(told)
    assert why in trace.text
    functions = " ".join(harness.run([harness.ANALYZE, "map", trace.path]).stdout.decode().split())
    assert f"no timers could be made: {why}" in functions and "Run longer" not in functions
