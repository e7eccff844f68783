"""Regions on each CPython: each call of a Python function in them is recorded, however it comes about; where one cannot be
seen, that is said; and the program is the same."""
import collections
import json

import pytest

import harness
import interpreters
import regions

BUILDS = interpreters.traced()
EXACT = ["recursion", "generators", "coroutines", "exceptions", "methods", "native", "threads", "same_function", "traced",
         "forks", "redefined", "leaves", "exits"]
CALLS_MISSING = 2  # of a region that is not complete
REGION = {"LOTUS_REGION": "Model.forward", "LOTUS_STEPS": "all"}


def command(python, *words):
    return ["env", f"PYTHONPATH={harness.FAKE_TORCH}", python, harness.PROGRAMS / "control_flow.py", *words]


def recorded(tracer, python, *words, **environment):
    """(what the program counts in its regions, Regions, Trace)"""
    plain = harness.run(command(python, *words))
    outcome, trace = tracer.trace(command(python, *words), **(environment or REGION))
    assert outcome.visible == plain.visible
    return json.loads(outcome.stdout), regions.of(trace), trace


def counts(region):
    """Calls and greatest depth of the functions of a region, but for generators that go on."""
    begun = [(call.name.split(".")[-1], call.depth) for call in region.calls if call.resumed == 0]
    return collections.Counter(name for name, _ in begun), {name: max(depth for other, depth in begun if other == name)
                                                            for name, _ in begun}


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("build", BUILDS)
def test_counts_are_exact(tracer, build, kind):
    if build.endswith("t"):
        pytest.skip("threads run at once")
    truth, found, _ = recorded(tracer, BUILDS[build], kind)
    assert [region.incomplete for region in found] == [0, 0]
    for region, counted in zip(found, truth["regions"]):
        calls, depth = counts(region)
        assert {name: calls[name] for name in counted["calls"]} == counted["calls"]
        if kind != "generators":  # which are not inside each other, as long as they wait
            assert {name: depth[name] for name in counted["depth"]} == counted["depth"]
        assert not {"busy", "other", "fall_quietly"} & set(calls) or kind == "quiet"  # of other threads and processes
    if kind == "redefined":  # each is another function
        assert len({call.code for call in found[0].calls if call.name == "made"}) == 30


@pytest.mark.parametrize("build", BUILDS)
def test_a_recursion_that_is_too_deep_says_so(tracer, build):
    truth, found, _ = recorded(tracer, BUILDS[build], "very_deep")
    for region, counted in zip(found, truth["regions"]):
        calls, _ = counts(region)
        assert calls["fall"] <= counted["calls"]["fall"]
        assert (calls["fall"] == counted["calls"]["fall"]) == (region.incomplete == 0)


@pytest.mark.parametrize("build", interpreters.free_threaded())
def test_free_threaded_python_says_that_calls_are_missing(tracer, build):
    """Where threads run at once, regions are recorded without the calls in them."""
    truth, found, _ = recorded(tracer, interpreters.free_threaded()[build], "recursion")
    assert len(found) == len(truth["regions"])
    for region in found:
        assert region.incomplete & CALLS_MISSING
        assert not {"fall", "fork"} & set(counts(region)[0])


@pytest.mark.parametrize("build", BUILDS)
def test_frames_of_the_evaluator_are_left_alone(tracer, build):
    """From 3.13 on, the code of the one around an __init__ cannot be written, as asking for its instructions does."""
    if build.endswith("t"):
        pytest.skip("threads run at once")
    truth, found, _ = recorded(tracer, BUILDS[build], "swapped")
    for region, counted in zip(found, truth["regions"]):
        calls, _ = counts(region)
        assert calls["fall"] == counted["calls"]["fall"] == 9


@pytest.mark.parametrize("build", BUILDS)
def test_tables_are_those_of_code_that_never_ran(tracer, build):
    """Instructions are not the specialised ones."""
    if build.endswith("t"):
        pytest.skip("threads run at once")
    made = collections.defaultdict(list)
    for kind in ("recursion", "methods", "exceptions", "generators"):
        truth, _, trace = recorded(tracer, BUILDS[build], kind)
        for name, tables in regions.tables(trace).items():
            made[name.split(".")[-1]] += tables
    for name, (bytecode, lines, names, exceptions) in truth["tables"].items():
        assert made[name]
        for table in made[name]:
            assert table[0].hex() == bytecode
            assert table[1].hex() == lines
            assert table[2] == (names or [""])
            assert table[3].hex() == exceptions


@pytest.mark.parametrize("name", ["Model.forward", "__main__.Model.forward"])
@pytest.mark.parametrize("build", interpreters.supported())
def test_names_of_regions(tracer, build, name):
    python = interpreters.supported()[build]
    _, found, _ = recorded(tracer, python, "recursion", LOTUS_REGION=name, LOTUS_STEPS="all")
    assert len(found) == 2


@pytest.mark.parametrize("name", ["forward", "Other.forward", "other.Model.forward", "Model", "odel.forward"])
@pytest.mark.parametrize("build", interpreters.supported())
def test_other_functions_are_no_regions(tracer, build, name):
    outcome, _ = tracer.run(command(interpreters.supported()[build], "recursion"), LOTUS_REGION=name, LOTUS_STEPS="all",
                            LOTUS_LOG=tracer.directory / "log")
    assert outcome.code == 0
    assert not outcome.lotus_lines  # nothing was recorded


def test_of_most_calls_a_fourth_is_only_timed_later(tracer):
    _, found, _ = recorded(tracer, harness.PYTHON, "recursion", 20, **REGION | {"LOTUS_STEPS": "most"})
    assert [region.number for region in found] == list(range(20))
    assert [region.number for region in found if region.incomplete == 4] == [10, 13, 18]
    assert all(bool(region.calls) == (region.incomplete == 0) for region in found)


def test_a_few_calls_are_recorded_and_as_many_timed(tracer):
    _, found, _ = recorded(tracer, harness.PYTHON, "recursion", 20, LOTUS_REGION="Model.forward")
    assert [region.incomplete for region in found[:8]] == [0] * 4 + [4] * 4
    assert all(region.calls for region in found[:4]) and not any(region.calls for region in found[4:8])
    assert [region.number for region in found[:8]] == list(range(8))


def test_none(tracer):
    outcome, _ = tracer.run(command(harness.PYTHON, "recursion"), LOTUS_REGION="Model.forward", LOTUS_STEPS="0")
    assert outcome.code == 0 and not outcome.lotus_lines


def test_steps_with_their_calls(tracer):
    """LOTUS_CONTROL_FLOW=1: what was open around a step stands first; then its calls, each in the one that called it."""
    outcome, trace = tracer.trace(harness.program("memory_steps", "mlp", "SGD"), LOTUS_STEPS="all", LOTUS_CONTROL_FLOW="1")
    assert outcome.code == 0
    steps = [step for step in regions.of(trace, "step", "step_end") if step.incomplete is not None]
    assert len(steps) >= 3
    for step in steps:
        assert step.incomplete == 0
        around = [call for call in step.calls if call.resumed == 2]
        assert around and around[0].parent is None
        assert all(call.parent is not None for call in step.calls if call.resumed != 2)
        assert any(call.name.split(".")[-1] == "forward" for call in step.calls)
        forward = [operator for operator in step.operators if operator.place_code]
        assert forward and all(operator.call.code == operator.place_code for operator in forward)


def test_plain_steps_have_no_calls(tracer):
    _, trace = tracer.trace(harness.program("memory_steps", "mlp", "SGD"), LOTUS_STEPS="all")
    assert trace.named("step") and not trace.named("python_call") and not trace.named("code_table")
