"""Image classification from an ImageFolder: none to four workers, forked or spawned; three epochs."""
import pytest

import checks
import harness

OPS = ["Loader", "RandomResizedCrop", "RandomHorizontalFlip", "ToTensor", "Normalize", "Collation"]
CASES = {"0": [], "1": [], "2": [], "4": [], "2-spawn": ["--start-method", "spawn", "--epochs", "1"]}


@pytest.fixture(params=sorted(CASES))
def run(request, pair, photos):
    workers = request.param.split("-")[0]
    options = ["--workers", workers, *CASES[request.param]]
    result = pair(request.param, harness.program("classify", *options, data=photos))
    result.workers = int(workers)
    result.epochs = len({batch.epoch for batch in result.truth.consumed})
    return result


def test_same_with_and_without(run):
    checks.same(run)


def test_operations(run):
    checks.whole(run)
    checks.only_ops(run, OPS)
    checks.ops(run)


def test_batches(run):
    checks.batches(run)
    checks.summary(run)


def test_queue_and_transfer(run):
    rows = checks.rows(run).values()
    for row in rows:
        if run.workers == 0:
            assert row["queued_at_ns"] is None and row["serialize_ns"] is None
            continue
        assert row["queued_at_ns"] < row["fetch_start_ns"] < row["received_at_ns"] <= row["consumed_at_ns"]
        size = 4 * 3 * 224 * 224 * row["samples"]  # the images; the targets and the pickle are small
        assert size < row["bytes"] < size + 20_000
        assert row["serialize_ns"] > 0


def test_workers(run):
    workers = run.trace.report["workers"]
    pids = {fetch.pid for fetch in run.truth.fetches}
    if run.workers > 0:
        assert {worker["pid"] for worker in workers} == pids
        assert sorted(worker["id"] for worker in workers) == sorted(list(range(run.workers)) * run.epochs)
        for worker in workers:
            assert worker["batches"] == sum(fetch.pid == worker["pid"] for fetch in run.truth.fetches)
            assert 0 < worker["busy_percent"] <= 100


def test_spans_nest_and_close(run):
    """In the dump, every span that is entered is left, innermost first."""
    open_spans = {}
    for record in run.trace.records:
        stack = open_spans.setdefault((record["pid"], record["stream"]), [])
        if "closes" in record:
            assert record["closes"] == stack.pop()
            assert record["duration_ns"] >= 0
        elif record["kind"] in run.trace.spans:
            assert record["depth"] == len(stack)
            stack.append(record["kind"])
    assert not any(open_spans.values())


def test_report_reads_well_at_80_and_200_columns(run):
    for columns in (80, 200):
        outcome = harness.run([harness.ANALYZE, "report", run.trace.path], COLUMNS=columns)
        lines = outcome.stdout.decode().splitlines()
        assert outcome.code == 0 and outcome.stderr == b""
        assert max(map(len, lines)) <= columns
        assert "\x1b" not in outcome.stdout.decode()
        for name in OPS:
            assert any(name in line for line in lines)
