"""What of a training step's Python is the step's: loops over batches and epochs are around it, and none of its constructs."""
import json
import re

import pytest

import harness

PROGRAM = harness.PROGRAMS / "training_loops.py"


def lines(pattern):
    """{line: what the pattern's group matches} of the program's lines."""
    found = ((number, re.search(pattern, line)) for number, line in enumerate(PROGRAM.read_text().splitlines(), 1))
    return {number: match[1] for number, match in found if match}


@pytest.mark.parametrize("kind", ["plain", "function", "generator", "alone", "while", "recursion"])
def test_loops_around_steps_are_none_of_them(tracer, kind):
    plain = harness.run(harness.program("training_loops", kind))
    outcome, trace = tracer.trace(harness.program("training_loops", kind), LOTUS_STEPS="all", LOTUS_CONTROL_FLOW="1")
    assert outcome.code == 0 and outcome.visible == plain.visible
    answer = harness.run([harness.ANALYZE, "control-flow", "--json", trace.path])
    assert answer.code == 0, answer.stderr.decode()
    told = json.loads(answer.stdout)
    region, = told["regions"]
    around = set(lines(rf"# around ({kind})$"))
    assert around and {row["line"] for row in region["around"]} == around
    inside, = lines(r"# inside (\d+)$").items()
    loops = [(row["line"], row["entries"], row["iterations"]) for row in told["constructs"] if row["kind"] == "loop"]
    assert loops == [(inside[0], 1, int(inside[1]))]
    recursions = [(row["function"], row["calls"], row["depth"]) for row in told["constructs"] if row["kind"] == "recursion"]
    assert recursions == ([("Net.down", 4, 4)] if kind == "recursion" else [])
    tests = {row["line"]: f"{row['taken']} {row['not_taken']}" for row in told["constructs"] if row["kind"] == "branch"}
    if kind == "plain":
        assert lines(r"# test (\d+ \d+)$").items() <= tests.items()
    advice = " ".join(region["findings"])
    assert not any(f"{PROGRAM.name}:{line}" in advice for line in around)
    text = harness.run([harness.ANALYZE, "control-flow", trace.path]).stdout.decode()
    assert all(f"{PROGRAM.name}:{line}" in text for line in around)
