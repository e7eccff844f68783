"""Datasets of other shapes than ImageFolder with Compose."""
import pytest

import checks
import harness


def test_without_compose(pair, photos):
    run = pair("no_compose", harness.program("no_compose", data=photos))
    checks.everything(run)
    assert set(run.trace.ops()) >= {"decode", "shrink", "Photographs.jitter", "Collation"}


ITERABLES = {"generator": ["--kind", "generator"], "class": ["--kind", "class"], "pinned": ["--pin", "1"]}


@pytest.mark.parametrize("kind", ITERABLES)
def test_iterable_with_sharding(kind, pair, photos):
    run = pair(kind, harness.program("iterable", *ITERABLES[kind], data=photos))
    checks.same(run)
    checks.whole(run)
    checks.ops(run, renamed={"Loader": "loader"})
    checks.fetches(run)
    checks.summary(run)
    checks.transfer(run)
    consumed = [row for row in run.trace.batches if row["consumed_at_ns"] is not None]
    assert [(row["epoch"], row["batch"]) for row in sorted(consumed, key=lambda row: row["consumed_at_ns"])] == [
        (batch.epoch, batch.number) for batch in sorted(run.truth.consumed, key=lambda batch: batch.consumed)]


def test_iterable_without_workers(pair, photos):
    run = pair("alone", harness.program("iterable", "--workers", "0", data=photos))
    checks.same(run)
    checks.ops(run, renamed={"Loader": "loader"})
    checks.fetches(run)


def test_custom_collate(pair, photos):
    run = pair("custom_collate", harness.program("custom_collate", data=photos))
    checks.everything(run)
    assert run.trace.ops()["Collation"]["qualified"].endswith("pad_and_stack")


def test_batched_getitems(pair, photos):
    run = pair("getitems", harness.program("getitems", data=photos))
    checks.everything(run, renamed={"Loader": "loader"})
    counts = [record["count"] for record in run.trace.named("samples")]
    assert counts == [len(fetch.keys) for fetch in run.truth.fetches]


@pytest.mark.parametrize("kind", ["subset", "concat", "split"])
def test_datasets_around_datasets(kind, pair, photos):
    run = pair(kind, harness.program("wrappers", "--kind", kind, data=photos))
    checks.everything(run)
    samples = run.trace.named("sample")
    assert len(samples) == sum(len(fetch.keys) for fetch in run.truth.fetches)


def test_transform_that_raises(pair, photos):
    run = pair("raising", harness.program("raising", data=photos))
    checks.everything(run, renamed={"Loader": "loader"})
    assert len(run.truth.raised) > 0
    table = run.trace.ops()
    assert table["RejectDark"]["errors"] == len(run.truth.raised)
    assert all(op["errors"] == 0 for name, op in table.items() if name != "RejectDark")
    samples = {str(record["index"]) for record in run.trace.named("sample")}
    assert samples == {key for key, _ in run.truth.samples}
