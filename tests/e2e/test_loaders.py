"""All ways to use a DataLoader, as implemented in tests/programs/loaders.py."""
import collections

import pytest

import checks
import harness

PLAIN = ["default", "fork", "spawn", "forkserver", "persistent-spawn", "prefetch", "many"]


@pytest.fixture
def run(pair):
    return lambda case: pair(case, harness.program("loaders", "--case", case))


@pytest.mark.parametrize("case", PLAIN)
def test_every_batch(case, run):
    result = run(case)
    assert result.bare.code == 0, result.bare.stderr
    checks.everything(result)


def test_persistent_workers_are_the_same_in_each_epoch(run):
    assert len(run("many").trace.report["workers"]) == 2
    assert len(run("persistent-spawn").trace.report["workers"]) == 2
    assert len(run("spawn").trace.report["workers"]) == 4


def test_what_was_not_asked_is_null(run):
    """The tracer does not ask for a dataset's length, as that would run the program's code."""
    trace = run("spawn").trace
    assert trace.report["loaders"][0]["length"] is None and trace.info["loaders"][0]["length"] is None


def test_batches_out_of_order(run):
    code = "import inspect, torch.utils.data as data; print(inspect.signature(data.DataLoader))"
    if b"in_order" not in harness.run([harness.PYTHON, "-c", code]).stdout:
        pytest.skip("this PyTorch has no in_order")
    result = run("any_order")
    assert result.bare.stdout == b"True True\n"
    checks.everything(result)
    assert result.trace.info["loaders"][0]["in_order"] is False
    logs, back = (result.trace.path.with_name(name) for name in ("any_order.logs", "any_order.back.lotus"))
    for words in (["export", "--format", "lotustrace", logs, result.trace.path], ["import", logs, "-o", back]):
        assert harness.run([harness.ANALYZE, *words]).code == 0
    loader = harness.Trace(back).report["loaders"][0]
    assert (loader["in_order"], loader["epochs"], loader["batches"]) == (False, 1, 8)


def test_worker_that_raises(run):
    result = run("raising")
    assert b"sample 17 is bad" in result.bare.stdout
    checks.same(result)
    checks.whole(result)
    assert len(result.trace.calls("Draw")) >= 16 + 32
    assert "again 7" in " ".join(line.decode().rsplit(" ", 1)[0].replace(" 0 ", " ") for line in
                                 result.bare.stdout.splitlines())
    assert result.trace.report["batches"]["failed"] == 1
    consumed = [row for row in result.trace.batches if row["consumed_at_ns"] is not None]
    assert len(consumed) == len(result.truth.consumed)


@pytest.mark.parametrize("case, words", [("hanging", b"timed out after 2 seconds"), ("killed", b"a worker died")])
def test_worker_that_hangs_or_dies(case, words, run):
    """The trace has the work of all workers until then, also of that worker."""
    result = run(case)
    assert words in result.bare.stdout
    assert result.traced.code == result.bare.code, result.traced.stderr.decode()
    assert result.traced.stdout.splitlines()[-1] == result.bare.stdout.splitlines()[-1]
    checks.whole(result)
    draws = collections.Counter(call.pid for call in result.trace.calls("Draw"))
    assert len(draws) == 2
    assert 4 + 4 + 1 in draws.values()  # two batches, and sample 16 before 17


def test_loader_inside_a_worker(run):
    result = run("nested")
    checks.same(result)
    checks.whole(result)
    checks.ops(result, names=["Draw", "Smooth", "Square", "Collation"])
    training = result.traced.pid
    outer = [row for row in result.trace.batches if row["consumed_at_ns"] is not None and row["worker_pid"] is not None]
    assert len([row for row in outer if row["samples"] == 4]) == 4
    assert {loader["pid"] for loader in result.trace.info["loaders"]} > {training}


def test_loaders_in_threads(run):
    result = run("threads")
    checks.same(result)
    checks.whole(result)
    checks.ops(result)
    left = {batch.fetch.pid for (name, _, _), batch in result.truth.batches.items() if name == "left" and batch.fetch}
    names = {row["loader"]: "left" if row["worker_pid"] in left else "right" for row in result.trace.batches}
    checks.batches(result, loaders=[names[loader] for loader in sorted(names)])  # ids in order of first use
    checks.summary(result)


def test_datasets_with_helpers(run):
    result = run("helpers")
    checks.same(result)
    checks.whole(result)
    checks.ops(result)
    checks.batches(result, loaders=("train", "alone"))


# Loaders with the same settings and place in the code count as one, if the earlier one was done when the
# later one was made. Case: (batches that training got, {loader: epochs}, whether each epoch makes a new
# loader).
MADE_AGAIN = {
    "again": (8 + 5 + 1, {"train": 3}, True),
    "turns": (6 * 8, {"train": 3, "validation": 3}, True),
    "kept": (3 * 8, {"train": 3}, True),
    "side_by_side": (2 * 8 + 2 * 16, {"first": 1, "second": 1, "third": 1, "fourth": 1}, False),
}


@pytest.mark.parametrize("case", MADE_AGAIN)
def test_loaders_made_again(run, case):
    consumed, epochs, anew = MADE_AGAIN[case]
    result = run(case)
    checks.same(result)
    checks.whole(result)
    checks.batches(result, loaders=tuple(epochs))
    assert len(result.truth.consumed) == consumed
    found = {loader["id"]: (loader["epochs"], loader["made"]) for loader in result.trace.report["loaders"]}
    assert [found[loader] for loader in sorted(found)] == [(n, n if anew else 1) for n in epochs.values()]
