"""control-flow --against: a number only where it holds, and else why there is none."""
import json

import pytest

import harness


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, tracers):
    """recorded(program, words, LOTUS_… settings): the path of the trace, which may be of a program that was killed."""
    made = {}

    def run(*words, **environment):
        key = (words, tuple(environment.items()))
        if key not in made:
            tracers.append(harness.Tracer(tmp_path_factory.mktemp("against")))
            _, trace = tracers[-1].trace(harness.program(*words), **environment)
            made[key] = trace.path
        return made[key]

    return run


def calls(recorded, count, killed=-1, name="call"):
    words = () if name == "call" else (name,)
    return recorded("ends_in_region", count, killed, *words, LOTUS_REGION=name, LOTUS_STEPS="all")


def against(first, other):
    outcome = harness.run([harness.ANALYZE, "control-flow", "--json", first, "--against", other])
    assert outcome.code == 0, outcome.stderr.decode()
    text = harness.run([harness.ANALYZE, "control-flow", first, "--against", other])
    assert text.code == 0
    told = json.loads(outcome.stdout)["against"]
    # On a loaded machine, a thread may have to wait for a core.
    told["doubts"] = [doubt for doubt in told["doubts"] if "did not compute" not in doubt]
    return told, " ".join(text.stdout.decode().split())


def test_whole_traces_are_compared(recorded):
    told, text = against(calls(recorded, 12), calls(recorded, 13))
    assert told["why_not"] is None and told["doubts"] == []
    assert told["overhead"] == pytest.approx(1 - told["without_s"] / told["with_s"])
    assert "Measured against the other trace" in text


@pytest.mark.parametrize("first, other, where", [((12, -1), (4, 0), "the other trace"), ((4, 0), (12, -1), "the first trace")])
def test_a_program_killed_in_its_first_call_has_no_number(recorded, first, other, where):
    told, text = against(calls(recorded, *first), calls(recorded, *other))
    assert all(told[key] is None for key in ("with_s", "without_s", "overhead", "estimated_overhead"))
    assert f"no call of call in {where} is recorded to its end" in told["why_not"]
    assert "Not measured against the other trace: no call of call" in text and "Measured against" not in text


def test_a_program_killed_later_is_compared_by_what_is_whole(recorded):
    told, text = against(calls(recorded, 12), calls(recorded, 9, 8))
    assert told["why_not"] is None and told["overhead"] is not None
    doubt, = told["doubts"]
    assert doubt == "In the other trace 1 of 9 recorded calls of call are not whole, and left out."
    assert doubt in text


def test_the_first_call_alone_is_said_to_be_it(recorded):
    told, _ = against(calls(recorded, 12), calls(recorded, 4, 1))
    assert told["overhead"] is not None
    assert any("the first call of call is among the 1 that count" in doubt for doubt in told["doubts"])


def test_another_name_is_said(recorded):
    told, text = against(calls(recorded, 12), calls(recorded, 12, name="straight"))
    assert told["why_not"] is None and told["name"] == "straight"
    assert told["doubts"] == ["The other trace has no region call: its straight is taken, as the one that takes most time."]
    assert told["doubts"][0] in text


def test_steps_are_not_compared_with_a_region(recorded):
    steps = recorded("training_loops", "plain", LOTUS_STEPS="all", LOTUS_CONTROL_FLOW="1")
    told, _ = against(calls(recorded, 12), steps)
    assert told["overhead"] is None and "the first trace has calls of call, the other one training steps" in told["why_not"]


def test_a_trace_without_regions_is_refused(recorded):
    plain = recorded("training_loops", "plain", LOTUS_STEPS="0")
    for first, other in ((calls(recorded, 12), plain), (plain, calls(recorded, 12))):
        outcome = harness.run([harness.ANALYZE, "control-flow", "--json", first, "--against", other])
        assert outcome.code != 0 and outcome.stdout == b""
        assert f"{plain}: no call of a region is recorded in it" in outcome.stderr.decode()
        assert "LOTUS_REGION" in outcome.stderr.decode()
