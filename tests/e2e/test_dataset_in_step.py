"""Code of the dataset that training steps call is told, by name; asking once before the loop is not."""
import pytest

import checks
import harness


@pytest.fixture(params=["each", "once"])
def kind(request):
    return request.param


@pytest.fixture
def called(kind, measured):
    return measured(kind, harness.program("dataset_in_step", kind))


def test_calls_and_their_time(kind, called):
    """Outermost calls only, none that is cheap, none of the loader's own."""
    truth = called.truth
    told = {call["name"].split(".")[-1]: call for call in called.trace.report["dataset_calls"]}
    if kind == "once":
        assert not told
        return
    stalled = told.pop("cheap", {"calls": 0})  # a call in which the machine did something else takes long, too
    assert stalled["calls"] <= truth["cheap_calls"] / 4
    assert {name: call["calls"] for name, call in told.items()} == truth["calls"]
    total = sum(call["total_s"] for call in told.values())
    checks.near(total, sum(truth["spent"].values()), share=0.05)
    checks.near(told["__len__"]["total_s"], truth["spent"]["__len__"], share=0.05)


def test_the_cause(kind, called):
    verdict = called.trace.report["verdict"]
    causes = [cause["cause"] for cause in verdict["causes"]]
    if kind == "once":
        assert "dataset_in_step" not in causes
        return
    assert verdict["cause"] == "dataset_in_step", verdict
    assert "schedule" in verdict["message"] and "ask once before the loop" in verdict["message"]
