"""Batches that arrive out of order, several loaders, and loaders that are reused or abandoned."""
import pytest

import checks
import harness


def test_out_of_order(pair):
    run = pair("out_of_order", harness.program("out_of_order"))
    checks.everything_but_ops(run)
    out_of_order = [batch for batch in run.truth.consumed if batch.out_of_order]
    assert len(out_of_order) >= 8
    rows = checks.rows(run)
    assert all(rows["train", 0, batch.number]["wait_ns"] == 1000 for batch in out_of_order)
    assert all(batch.number % 2 == 1 for batch in out_of_order)  # those of worker 1


def test_out_of_order_in_each_of_several_epochs(pair):
    run = pair("epochs", harness.program("out_of_order", "--workers", "4", "--epochs", "2"))
    checks.everything_but_ops(run)


def test_two_loaders_at_once(pair, photos):
    run = pair("two_loaders", harness.program("two_loaders", data=photos))
    checks.same(run)
    checks.whole(run)
    checks.ops(run)
    checks.batches(run, loaders=("train", "validate"))
    checks.summary(run)
    assert sorted(loader["workers"] for loader in run.trace.info["loaders"]) == [1, 2]


def test_persistent_workers(pair, photos):
    run = pair("persistent", harness.program("persistent", data=photos))
    checks.everything(run)
    checks.transfer(run)
    assert len(run.trace.report["workers"]) == 2


def test_loader_left_half_way(pair, photos):
    run = pair("abandoned", harness.program("abandoned", data=photos))
    checks.same(run)
    checks.whole(run)
    checks.batches(run)
    assert len(run.truth.consumed) == 12


def test_pinned_memory_without_cuda(pair, photos):
    run = pair("pin_memory", harness.program("pin_memory", data=photos))
    checks.everything(run)
    assert not run.truth.pins


PINNED = {"fork": ["--start-method", "fork"], "spawn": ["--start-method", "spawn"], "persistent": ["--persistent", "1"]}


@pytest.mark.parametrize("case", PINNED)
def test_pinned_memory(case, pair, photos):
    command = harness.program("pin_memory", "--pretend", "1", "--epochs", "3", *PINNED[case], data=photos)
    run = pair(f"pinned-{case}", command)
    checks.everything(run)
    checks.pinning(run)
    checks.transfer(run)


def test_train_step(pair, photos):
    """The time between two calls of next() is the training step."""
    run = pair("persistent", harness.program("persistent", data=photos))
    steps = []
    calls = sorted(run.truth.next_calls, key=lambda call: call[2])
    for (_, epoch, start, ns), (_, next_epoch, next_start, _) in zip(calls, calls[1:]):
        if epoch == next_epoch:
            steps.append(next_start - start - ns)
    mean = sum(steps) / len(steps) / 1e6
    told = run.trace.report["train_step_ms"]["mean"]
    checks.agree(abs(told - mean) <= 0.05 * mean + 0.5, told, mean)
