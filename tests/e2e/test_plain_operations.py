"""Operations whose Python calls play no role run without the tracer's evaluator: nothing that is told depends on it."""
import json

import pytest

import harness
import interpreters

SUPPORTED = interpreters.supported()
LOOK_EVERY = 32  # kLookEvery of preload/pipeline/plain_operations.cpp


class Ran:
    def __init__(self, tracers, directory, kind, workers, python=harness.PYTHON, **environment):
        tracers.append(harness.Tracer(directory))
        program = harness.program("plain_operations", kind, workers, python=python)
        outcome, self.trace = tracers[-1].trace(program, **environment)
        assert outcome.code == 0, outcome.stderr.decode()
        self.truth = json.loads(outcome.stdout)

    def count(self, name):
        return next((op["count"] for op in self.trace.report["ops"] if op["name"] == name), 0)


@pytest.fixture
def ran(tmp_path, tracers):
    def run(kind, workers=0, **environment):
        return Ran(tracers, tmp_path, kind, workers, **environment)
    return run


@pytest.fixture(scope="module", params=["alone", "workers", *sorted(SUPPORTED)])
def plain(request, tmp_path_factory, tracers):
    """With PyTorch, without and with workers; with a stand-in for it on each CPython that is here."""
    more = {"PYTHONPATH": harness.FAKE_TORCH} if request.param in SUPPORTED else {}
    ran = Ran(tracers, tmp_path_factory.mktemp("plain"), "plain", 2 if request.param == "workers" else 0,
              python=SUPPORTED.get(request.param, harness.PYTHON), LOTUS_SAMPLE_HZ=999, **more)
    ran.version = tuple(map(int, ran.trace.info["processes"][0]["python"].split(".")[:2]))
    return ran


def own_evaluator_is_used(ran):
    return ran.truth["unhooked"] > 0


def test_most_of_them_run_without_it(plain):
    # A worker's feeder thread may have a batch to send; else all but those that are looked at.
    least = plain.truth["runs"] / 3 if plain.version >= (3, 11) else 0
    assert least <= plain.truth["unhooked"] < plain.truth["runs"]


def test_each_of_them_is_recorded(plain):
    assert plain.count("Outer") == plain.truth["runs"]


def test_batches_are_still_seen_on_their_way(plain):
    if not plain.trace.report["loaders"][0]["workers"]:
        pytest.skip("no worker sends them")
    batches = plain.truth["runs"] // 4
    assert len(plain.trace.named("serialize")) == len(plain.trace.named("send")) == batches


def test_functions_in_them_have_their_names(plain):
    """In each stack of the operation, as they call each other: __call__ around walk around walk around step."""
    used, named = 0, 0
    for stack, us in plain.trace.stacks.items():
        if "Outer" not in stack:
            continue
        names = [name.split(".")[-1] for name in stack]
        names = [name for name in names if name in ("__call__", "walk", "step")]
        if names[:2] == ["__call__", "__call__"]:
            del names[0]  # the runner's: while the operation's first record is written, the stack is not yet cut there
        assert names in (["__call__", "walk", "step"][:len(names)], ["__call__", "walk", "walk", "step"][:len(names)]), stack
        used += us
        named += us if "step" in names else 0
    assert used > 20_000
    assert named > 0.8 * used


def test_what_turns_up_later_is_found(ran):
    late = ran("late")
    assert own_evaluator_is_used(late)
    assert late.truth["inner"] == 141
    assert late.truth["inner"] - LOOK_EVERY - 1 <= late.count("Inner") <= late.truth["inner"]
    assert late.truth["last"] == [0] * 4


def test_not_beside_other_threads(ran):
    assert ran("thread").truth["unhooked"] == 0


def test_a_child_has_its_evaluator_back(ran):
    fork = ran("fork")
    assert own_evaluator_is_used(fork)
    assert fork.truth["forked"] == 1  # and 2 where the child runs without


def test_exceptions_inside_are_no_reason_to_look(ran):
    raises = ran("raises")
    assert raises.truth["unhooked"] > raises.truth["runs"] / 2
    assert raises.count("Outer") == raises.truth["runs"]
