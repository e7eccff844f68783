"""`diff` of whole programs: exact CPU times, what a new operation costs, batches of another size."""
import json

import pytest

import harness


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tracers):
    """The traces of a program with Work of 2 ms in batches of 8, of 3 ms, with another operation, and in batches of 16."""
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("runs")))
    arguments = {"first": ["2", "8"], "slower": ["3", "8"], "added": ["2", "8", "Added"], "larger": ["2", "16"]}
    return {name: tracers[-1].trace([*harness.program("difference"), *words])[1].path for name, words in arguments.items()}


def diff(before, after, *options):
    outcome = harness.run([harness.ANALYZE, "diff", *options, before, after], COLUMNS=400)
    assert outcome.code == 0, outcome.stderr.decode()
    return outcome.stdout.decode()


def test_cpu_time_is_that_of_the_threads_clocks(runs):
    """Also beside other programs: a thread computes as long as it does."""
    ops = {op["name"]: op for op in json.loads(diff(runs["first"], runs["slower"], "--json"))["ops"]}
    work = ops["Work"]
    assert work["cpu_by_clock"]
    cpu = work["cpu_per_call"]
    assert cpu["before"]["mean_ns"] == pytest.approx(2e6, rel=0.1)
    assert cpu["after"]["mean_ns"] == pytest.approx(3e6, rel=0.1)
    low, high = cpu["difference_interval_ns"]
    assert 0.8e6 < low <= high < 1.3e6 and cpu["changed"]


def test_what_a_new_operation_costs(runs):
    answer = json.loads(diff(runs["first"], runs["added"], "--json"))
    added = next(op for op in answer["ops"] if op["name"] == "Added")
    assert added["calls"] == [0, 320]
    assert added["only"]["mean_ns"] >= 1e6
    assert added["only"]["total_s"] == pytest.approx(320 * added["only"]["mean_ns"] / 1e9)
    assert "Added is only in" in diff(runs["first"], runs["added"])


def test_the_unit_and_the_size_of_batches(runs):
    text = diff(runs["first"], runs["larger"])
    assert "samples/s" in text and "images" not in text
    assert "A batch has 16.0 instead of 8.00 samples" in text
    assert "A batch has" not in diff(runs["first"], runs["slower"])
