"""Truth of the native map: functions whose CPU time a program measured itself, over 20 seeded runs.

A unit is one operation in one run. It is right if the true share of every function that it called lies inside
the reported 95 % interval. The shares of one unit add up to one and are not independent, but units are. With
correct intervals, a unit is wrong with a probability of at most 5 %; the test fails if the number of wrong
units is less likely than RARE. With a correct tracer, that happens once in a few thousand runs of these
tests. For all runs together, no share may be off by more than the whole width of its interval, which is four
standard errors.
"""
import concurrent.futures
import json
import math
import shutil
import subprocess

import pytest

import harness
import map_reader

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")

RUNS = 20
RARE = 1e-4
LIBRARIES = {"libshares.so": [], "liblate.so": ["-DLATE"]}
CALLED = {
    "First": {"burn_first", "burn_shared"},
    "Second": {"burn_shared", "burn_second"},
    "Brief": {"burn_brief", "burn_by_hand"},
    "Late": {"burn_first", "burn_late"},
    "Pooled": {"burn_second", "burn_pooled"},
}


def tail(wrong, units):
    """The probability of at least this many wrong units, if each is wrong with a probability of 5 %."""
    return sum(math.comb(units, n) * 0.05**n * 0.95 ** (units - n) for n in range(wrong, units + 1))


class Run:
    def __init__(self, tracer, libraries, seed, *options):
        program = harness.PROGRAMS / "shares.py"
        command = ["env", f"PYTHONPATH={harness.FAKE_TORCH}", harness.PYTHON, program, "--libraries", libraries,
                   "--seed", seed, *options]
        self.path = tracer.directory / f"{seed}.lotus"
        outcome, _ = tracer.run(command, output=self.path, LOTUS_SAMPLE_HZ=999)
        assert outcome.code == 0, outcome.stderr.decode()
        self.truth = json.loads(outcome.stdout)  # {operation: {"all": ns, function: ns, …}}
        harness.wait_until(lambda: harness.is_complete(self.path), f"the collector to finish {self.path}")
        self.map = map_reader.read(self.path)

    def shares(self, op):
        spent = self.truth[op]
        return {name: ns / spent["all"] for name, ns in spent.items() if name != "all"}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    directory = tmp_path_factory.mktemp("libraries")
    for name, options in LIBRARIES.items():
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-pthread", *options, "-o", directory / name,
                        harness.PROGRAMS / "native/shares.c"], check=True)
    return directory


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tracers, libraries):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("shares")))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda seed: Run(tracers[-1], libraries, seed), range(RUNS)))


def wrong_units(runs, truth):
    """The operations of all wrong units; truth(run, op) gives {function: share}."""
    wrong = []
    for run in runs:
        for op in CALLED:
            found = {name: run.map.ops[op].named(name) for name in CALLED[op]}
            if not all(found[name].low <= share <= found[name].high for name, share in truth(run, op).items()):
                wrong.append(op)
    return wrong


def swapped(run, op):
    (one, share), (other, share_of_other) = run.shares(op).items()
    return {one: share_of_other, other: share}


def test_the_program_is_what_the_tests_take_it_for(runs):
    for run in runs:
        assert {op: set(run.shares(op)) for op in run.truth} == CALLED
        assert all(0.85 < sum(run.shares(op).values()) <= 1 for op in CALLED)


def test_shares_lie_inside_their_intervals(runs):
    wrong = wrong_units(runs, Run.shares)
    assert tail(len(wrong), RUNS * len(CALLED)) > RARE, wrong
    for op in CALLED:
        assert tail(wrong.count(op), RUNS) > RARE / len(CALLED), (op, wrong)


def test_other_shares_do_not(runs):
    """The test above would fail if two functions were confused."""
    wrong = wrong_units(runs, swapped)
    for op in CALLED:
        assert tail(wrong.count(op), RUNS) < RARE / len(CALLED), (op, wrong)


def test_shares_of_all_runs_together(runs):
    together = map_reader.read(*(run.path for run in runs))
    for op, names in CALLED.items():
        for name in names:
            truth = sum(run.truth[op][name] for run in runs) / sum(run.truth[op]["all"] for run in runs)
            found = together.ops[op].named(name)
            assert found.high - found.low < 0.1
            assert abs(found.share - truth) <= found.high - found.low, (op, name, truth, found)


def test_no_function_under_an_operation_that_never_called_it(runs):
    for run in runs:
        for op, row in run.map.ops.items():
            found = {function.name for function in row.functions if function.name.startswith("burn_")}
            # These call the functions of all operations.
            found -= {"burn_pieces", "burn_in_pool"}
            assert found <= CALLED.get(op, set()), op


def test_functions_belong_to_their_library(runs):
    for run in runs:
        for op in run.map.ops.values():
            for function in op.functions:
                if function.name in set().union(*CALLED.values()):
                    assert function.library == ("liblate.so" if function.name == "burn_late" else "libshares.so")


def test_helper_threads_work_for_the_only_open_operation(runs):
    for run in runs:
        for name, op in run.map.ops.items():
            assert (op.on_behalf > 0) == (name == "Pooled")
        pooled = run.map.ops["Pooled"]
        assert pooled.named("burn_pooled").total <= pooled.on_behalf


def test_helper_threads_work_for_none_of_two_open_operations(tracer, libraries):
    run = Run(tracer, libraries, RUNS, "--beside")
    assert run.map.ops["Pooled"].named("burn_second").samples > 0
    assert run.map.ops_with(lambda function: function.name == "burn_pooled") == set()
    # Helpers still run for a short time after a job, when only Beside may be open.
    assert {name for name, op in run.map.ops.items() if op.on_behalf > 0} <= {"Beside"}
    outside = run.map.document["outside_ops"]["cpu_s"]
    assert outside > 0.5 * run.truth["Pooled"]["burn_pooled"] / 1e9
