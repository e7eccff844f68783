"""Regions: what is recorded of the workloads of control flow agrees with what the programs count of themselves."""
import collections
import json

import pytest

import harness
import regions

PLACE = harness.PROGRAMS / "cocktailer"
WORKLOADS = ["lstm", "nasrnn", "attention", "seq2seq", "blockdrop", "skipnet", "rae"]
EXTRACTIONS = {"item": "aten::item", "bool": "aten::is_nonzero"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, tracers):
    """recorded(workload): (what the program says of itself, Trace), with all of its regions."""
    made = {}

    def run(workload):
        if workload not in made:
            tracers.append(harness.Tracer(tmp_path_factory.mktemp(workload)))
            region = json.loads(harness.run(command(workload)).stdout)["region"]
            outcome, trace = tracers[-1].trace(command(workload), LOTUS_REGION=region, LOTUS_STEPS="all")
            assert outcome.code == 0, outcome.stderr.decode()
            made[workload] = json.loads(outcome.stdout), trace
        return made[workload]

    return run


def command(workload, *options):
    return [harness.PYTHON, PLACE / f"{workload}.py", *options]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_each_call_of_the_function_is_a_region(recorded, workload):
    truth, trace = recorded(workload)
    found = regions.of(trace)
    assert [region.number for region in found] == list(range(truth["region_calls"]))
    assert [region.incomplete for region in found] == [0] * truth["region_calls"]
    assert all(region.calls[0].name == truth["region"].split(".")[-1] or region.calls[0].name == truth["region"]
               for region in found)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_calls_and_depth_are_what_the_program_counts(recorded, workload):
    truth, trace = recorded(workload)
    for region in regions.of(trace):
        calls = collections.Counter(call.line for call in region.calls if call.file.endswith(f"/{workload}.py"))
        depth = {line: max(call.depth for call in region.calls if call.line == line and call.file.endswith(f"/{workload}.py"))
                 for line in calls}
        for function in truth["truth"]["functions"]:
            assert calls.pop(function["line"], 0) == function["calls"], function
            assert depth.get(function["line"], 0) == function["depth"], function
        assert not calls  # no others of the program's


@pytest.mark.parametrize("workload", WORKLOADS)
def test_extractions_are_where_the_program_has_them(recorded, workload):
    truth, trace = recorded(workload)
    wanted = collections.Counter()
    for row in truth["truth"]["extractions"]:
        wanted[row["line"], EXTRACTIONS[row["kind"]]] += row["count"]
    for region in regions.of(trace):
        found = collections.Counter((op.line, op.name) for op in region.operators if op.name in EXTRACTIONS.values())
        assert found == wanted


@pytest.mark.parametrize("workload", WORKLOADS)
def test_operators_stand_in_the_call_that_they_are_of(recorded, workload):
    """Each place is one of the function that is called last and has not returned."""
    _, trace = recorded(workload)
    for region in regions.of(trace):
        assert region.operators
        assert all(op.place_code == op.call.code for op in region.operators)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_recorded_is_the_same(recorded, workload, tracer):
    plain = harness.run(command(workload))
    outcome, _ = tracer.run(command(workload), LOTUS_REGION=json.loads(plain.stdout)["region"])
    assert outcome.visible == plain.visible


def test_a_region_that_is_never_called_is_told(tracer):
    outcome, trace = tracer.run(harness.program("cocktailer/rae"), LOTUS_REGION="RAE.fordward")
    line, = outcome.lotus_lines
    assert "no call of RAE.fordward in the main thread was seen" in line and "so there is no trace" in line
    assert not trace.exists()


@pytest.mark.parametrize("wrong, said", [
    ({"LOTUS_REGION": "RAE. forward"}, "LOTUS_REGION='RAE. forward' is not a function's qualified name"),
    ({"LOTUS_REGION": "RAE.forward", "LOTUS_STEPS": "0"}, "LOTUS_STEPS=0: no call of RAE.forward is recorded"),
])
def test_what_is_wrong_with_the_variables_is_told_without_a_trace(tracer, wrong, said):
    outcome, trace = tracer.run(harness.program("cocktailer/rae"), **wrong)
    line, = outcome.lotus_lines
    assert said in line and "so there is no trace" in line
    assert not trace.exists()
