"""What torch.compile says of itself is told: graph breaks, compiling again, guards."""
import json

import pytest

import harness

TRY = "import torch\ntorch.compile(lambda x: x + 1, backend='eager')(torch.ones(3))\nfrom torch._dynamo.utils import graph_break_reasons"


@pytest.fixture(scope="module")
def cannot_compile():
    answer = harness.run([harness.PYTHON, "-c", TRY], timeout=300)
    return answer.code != 0 and answer.stderr.decode().splitlines()[-1][:150]


def told_of(tracer, case, *options, steps="all"):
    """The trace of a program, and what control-flow says of its region."""
    command = harness.program("graph_breaks", case, *options)
    plain = harness.run(command, timeout=300)
    outcome, trace = tracer.trace(command, LOTUS_REGION="main.<locals>.call", LOTUS_STEPS=steps)
    assert outcome.code == 0, outcome.stderr.decode()
    assert outcome.visible == plain.visible
    answer = harness.run([harness.ANALYZE, "control-flow", "--json", trace.path])
    assert answer.code == 0, answer.stderr.decode()
    region, = json.loads(answer.stdout)["regions"]
    return trace, region


@pytest.mark.parametrize("case", ["branch", "print", "helper", "inlined", "line", "looped"])
def test_breaks_are_those_that_explain_finds(case, cannot_compile, tracer):
    if cannot_compile:
        pytest.skip(cannot_compile)
    explained = harness.run(harness.program("graph_breaks", case, "--explain"), timeout=300)
    assert explained.code == 0, explained.stderr.decode()
    wanted = sorted(map(tuple, json.loads(explained.stdout)))
    assert wanted
    trace, region = told_of(tracer, case)
    first = [(record["file"], record["line"]) for record in trace.named("graph_break") if record["region"] == 1]
    # PyTorch's list has those of graphs in which there is nothing yet, too, which `explain` leaves out.
    assert set(first) == set(wanted) and len(first) >= len(wanted)
    told = region["compilation"]
    assert {(row["file"], row["line"]) for row in told["graph_breaks"]} == set(wanted)
    assert 1 <= told["compiling_calls"] < region["calls"]
    assert told["compile_s"] > 0
    assert sum(row["again"] for row in told["functions"]) >= 1
    # A usual call compiles nothing: compiling takes thousands of times as long.
    assert region["wall_s"] < told["compile_s"]


def test_what_a_break_costs_is_told(cannot_compile, tracer):
    if cannot_compile:
        pytest.skip(cannot_compile)
    _, region = told_of(tracer, "print")
    breaks = region["compilation"]["graph_breaks"]
    assert len(breaks) == 2
    for row in breaks:
        assert row["calls"] == 1 and 0 <= row["python_s"] <= region["python_s"] and row["operators_s"] == 0
    assert sum(row["python_s"] for row in breaks) <= region["python_s"]


def test_a_break_in_a_loop_costs_as_often_as_it_is_met(cannot_compile, tracer):
    """With what runs outside of graphs meanwhile."""
    if cannot_compile:
        pytest.skip(cannot_compile)
    _, region = told_of(tracer, "looped")
    row, = region["compilation"]["graph_breaks"]
    assert row["calls"] == 3
    assert 0 < row["operators_s"] <= region["native_s"] + region["control_s"] and 0 <= row["python_s"] <= region["python_s"]


def test_breaks_of_a_line_are_told_together(cannot_compile, tracer):
    if cannot_compile:
        pytest.skip(cannot_compile)
    _, region = told_of(tracer, "line")
    row, = region["compilation"]["graph_breaks"]
    assert row["times"] >= 2 and row["calls"] == 2 and row["reasons"]
    assert 0 <= row["python_s"] <= region["python_s"] and row["operators_s"] == 0


def test_a_break_in_a_function_that_was_part_of_the_graph(cannot_compile, tracer):
    """It is of that function's line; what goes on behind it is the caller's."""
    if cannot_compile:
        pytest.skip(cannot_compile)
    _, region = told_of(tracer, "inlined")
    row, = region["compilation"]["graph_breaks"]
    assert row["function"] == "says" and row["calls"] == 1
    assert 0 <= row["python_s"] <= region["python_s"] and row["operators_s"] == 0


def test_a_stand_in_in_a_loop(tracer):
    trace, region = told_of(tracer, "looped", "--stand-in")
    row, = region["compilation"]["graph_breaks"]
    assert (row["line"], row["calls"]) == (9, 3)
    assert 0 <= row["python_s"] <= region["python_s"]
    if trace.named("torch_op"):
        assert 0 < row["operators_s"] <= region["native_s"] + region["control_s"]


@pytest.mark.parametrize("steps", ["all", "auto"])
def test_what_a_stand_in_says(steps, tracer):
    """Each record, in the call that it is of; the compiler's own calls are none of the region's."""
    trace, region = told_of(tracer, "branch", "--stand-in", steps=steps)
    broken, = trace.named("graph_break")
    assert (broken["region"], broken["function"], broken["file"], broken["line"], broken["reason"]) == (
        1, "forward", "/home/me/model.py", 9, "a break\n  for a test")
    compiled = trace.named("compilation")
    assert [(row["region"], row["line"], bool(row["why"])) for row in compiled] == [
        (1, 7, False), (1, 10, False), (4, 7, True), (4, 10, True)]
    assert all((row["took"], row["guards"], row["checking"], row["failed"]) == (250_000_000, 7, 2000, "") for row in compiled)
    told = region["compilation"]
    row, = told["graph_breaks"]
    assert (row["line"], row["times"], row["calls"], row["reasons"]) == (9, 1, 1, ["a break"])
    assert 0 <= row["python_s"] <= region["python_s"]  # 0: recording took as long
    assert {function["line"]: (function["compiled"], function["again"], function["calls"], function["guards"])
            for function in told["functions"]} == {7: (2, 1, 1, 7), 10: (2, 1, 1, 7)}
    assert (told["compiling_calls"], told["compile_s"], told["compile_outside_s"]) == (2, 1, 0)
    assert told["guards_at_most_s"] <= 4e-6
    assert region["python_calls"] < 20
    text = harness.run([harness.ANALYZE, "control-flow", trace.path]).stdout.decode()
    assert "model.py:9" in text and "a break" in text


def test_reasons_and_files_are_redacted(tracer, tmp_path):
    """They may hold values and names of the program's."""
    trace, _ = told_of(tracer, "branch", "--stand-in")
    away = tmp_path / "away.lotus"
    answer = harness.run([harness.ANALYZE, "redact", trace.path, "-o", away])
    assert answer.code == 0, answer.stderr.decode()
    text = harness.run([harness.ANALYZE, "dump", away]).stdout.decode()
    assert " graph_break " in text and "a break" not in text and "size mismatch" not in text and "/home/me" not in text
