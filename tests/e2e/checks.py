"""Checks that the tracer's measurements of a program agree with the program's own."""
import collections
import statistics

from harness import EMULATED, wait_until

# The tolerated difference between the program's and the tracer's duration of one call.
CALL_NS = 10_000
SHARE = 0.02
# The two clocks are read a few µs apart, and the machine sometimes runs something else in between. A larger
# difference than this counts as such an interruption, of which one in ten calls is tolerated. (Reading the
# thread's CPU clock makes the kernel check whether the time slice is over.)
INTERRUPTED_NS = 50_000
INTERRUPTED_SHARE = 1 / 10  # four workers share two cores with the training process
# Bounds for the error of a wait, consumption or delay, in addition to a share of it. One in ten (at least
# two) may exceed NEAR_NS, none may exceed FAR_NS.
NEAR_NS = 500_000
FAR_NS = 100_000_000
# The program measures an inner and an outer bound of a fetch. The clocks may differ by this and by 0.1 %.
SLACK_NS = 50_000


class Disturbed(AssertionError):
    """The program's and the tracer's measurements differ by more than the bounds allow.

    The machine may have done something else in between, so conftest.py runs the test again. This also hides
    errors of the tracer that occur in some runs only: tools/test counts the repeated tests at its end.
    """


def agree(condition, *told):
    """Asserts a condition on measured times only. `told`: details for the message."""
    if not condition and not EMULATED:
        raise Disturbed(*told)


def near(told, truth, share=0.1, slack=0.02, what=""):
    """Asserts that two measurements in seconds agree, within a share or some seconds. `what`: for the message."""
    agree(abs(told - truth) <= max(share * truth, slack), what, told, truth)


def same(pair):
    """The program's output, exit code and results do not depend on the tracer, which leaves nothing behind."""
    assert pair.traced.visible == pair.bare.visible
    assert pair.bare.lotus_lines == []
    assert pair.traced.lotus_lines == [f"lotus: tracing to {pair.trace.path}"]
    wait_until(lambda: pair.tracer.left() in ([], ["collector.lock"]), "the segments to go")


def whole(pair):
    """Nothing was lost, cut off or damaged."""
    trace = pair.trace.report["trace"]
    assert trace["lost_events"] == 0
    assert trace["truncated"] is False


def ops(pair, names=None, renamed=None):
    """Counts are exact; the median difference of calls is within 2 % or 10 µs, whichever is larger.

    Sums are not compared: on a shared core, interruptions shorter than INTERRUPTED_NS add up.

    `renamed`: {the program's name of an operation: the tracer's name, if different}.
    """
    interrupted, calls = [], 0
    for name, truth, off in compared(pair, names, renamed):
        interrupted += [(name, ns) for ns in off if abs(ns) > INTERRUPTED_NS]
        calls += len(off)
        mean = statistics.fmean(call.ns for call in truth)
        difference = statistics.median(off)
        agree(abs(difference) <= max(SHARE * mean, CALL_NS), name, difference, mean, len(off))
    agree(len(interrupted) <= max(2, INTERRUPTED_SHARE * calls), "interrupted", interrupted)


def ops_from_outside(pair, names=None, renamed=None):
    """Like ops(), for calls that the program timed from outside.

    Between the program's clock and its own, the tracer reads the CPU time, which is where the kernel often
    preempts the thread. So no call may take longer than the program says, and only the least disturbed
    twentieth of the calls is compared: it may not be shorter by more than 2 % or 10 µs.
    """
    for name, truth, off in compared(pair, names, renamed):
        agree(max(off) <= CALL_NS, name, max(off))
        allowed = max(SHARE * statistics.median(call.ns for call in truth), CALL_NS)
        nearest = sorted(abs(ns) for ns in off)[: max(1, len(off) // 20)]
        agree(max(nearest) <= allowed, name, max(nearest))


def compared(pair, names=None, renamed=None):
    """Yields (name, the program's Calls, differences in ns) by operation; checks counts and sums."""
    table = pair.trace.ops()
    for name, truth in pair.truth.ops.items():
        if names is not None and name not in names:
            continue
        seen_as = (renamed or {}).get(name, name)
        assert seen_as in table, f"no op {seen_as} among {sorted(table)}"
        assert table[seen_as]["count"] == len(truth), name
        found = pair.trace.calls(seen_as)
        assert abs(table[seen_as]["total_s"] * 1e9 - sum(call.ns for call in found)) <= 1e3 * len(found)
        yield name, truth, _differences(truth, found)


def _differences(truth, found):
    """The tracer's duration minus the program's, in ns, call by call."""
    def order(call):
        return call.pid, call.end

    pairs = list(zip(sorted(truth, key=order), sorted(found, key=order)))
    assert all(mine.pid == theirs.pid for mine, theirs in pairs)
    return [theirs.ns - mine.ns for mine, theirs in pairs]


def _between(bounds, what):
    """Checks that each value lies between its bounds. `bounds`: {key: (least, found, most)} in ns."""
    for key, (least, found, most) in bounds.items():
        assert found is not None, f"{what} of {key} is unknown"
        slack = SLACK_NS + abs(most) / 1000
        agree(least - slack <= found <= most + slack, f"{what} of {key}: {found} ns is not in {least}, {most}")


def only_ops(pair, names):
    """The op table has these rows and no others, but for a runner's own work: on a busy machine that is 50 µs a call."""
    ops = pair.trace.ops()
    assert sorted(name for name, op in ops.items() if op["role"] != "runner" or name in names) == sorted(names)


def _near(bounds, what, share=SHARE):
    """Like _between(), with the bounds FAR_NS and NEAR_NS, and a share of the value in addition."""
    off = {}
    for key, (least, found, most) in bounds.items():
        assert found is not None, f"{what} of {key} is unknown"
        off[key] = max(least - found, found - most) - share * abs(most)
        agree(off[key] <= FAR_NS, f"{what} of {key}: {found} ns is not in {least}, {most}")
    farther = [(key, distance) for key, distance in off.items() if distance > NEAR_NS]
    agree(len(farther) <= max(2, len(off) / 10), what, farther)


def rows(pair, loaders=("train",)):
    """Rows of `lotus-analyze batches` as {(loader, epoch, batch): row}; loaders in the order of their ids."""
    ids = sorted({row["loader"] for row in pair.trace.batches})
    assert len(ids) == len(loaders), ids
    names = dict(zip(ids, loaders))
    keyed = {(names[row["loader"]], row["epoch"], row["batch"]): row for row in pair.trace.batches}
    assert len(keyed) == len(pair.trace.batches), "two rows for one batch"
    numbers = [row["number"] for row in pair.trace.batches]
    assert len(set(numbers)) == len(numbers), "numbers of batches repeat"
    return keyed


def batches(pair, loaders=("train",)):
    """Compares fetch, wait, order and delay of each batch that training got."""
    found = rows(pair, loaders)
    consumed = {key: batch for key, batch in pair.truth.batches.items() if batch.consumed is not None}
    assert {key for key, row in found.items() if row["consumed_at_ns"] is not None} == set(consumed)
    for key, batch in consumed.items():
        assert found[key]["out_of_order"] == batch.out_of_order, key
    _near({key: (batch.wait, found[key]["wait_ns"], batch.wait) for key, batch in consumed.items()}, "wait")
    _near({key: (batch.consumed, found[key]["consumed_at_ns"], batch.consumed) for key, batch in consumed.items()},
          "consumption", share=0)
    fetched = {key: batch for key, batch in pair.truth.batches.items() if batch.fetch is not None}
    assert set(fetched) >= set(consumed)
    for key, batch in fetched.items():
        assert found[key]["worker_pid"] == batch.fetch.pid, key
        assert found[key]["samples"] == len(batch.fetch.keys), key
    _between({key: _fetch_bounds(batch.fetch, found[key]) for key, batch in fetched.items()}, "fetch")
    _near({key: (batch.consumed - batch.fetch.end, found[key]["delay_ns"], batch.consumed - batch.fetch.made)
           for key, batch in consumed.items()}, "delay", share=1 / 1000)


def _fetch_bounds(fetch, row):
    return fetch.made - fetch.begun, row["fetch_ns"], fetch.end - fetch.start


def fetches(pair):
    """Compares each worker's fetches in order of time, if the program does not know their batches."""
    truth, found = collections.defaultdict(list), collections.defaultdict(list)
    for fetch in sorted(pair.truth.fetches, key=lambda fetch: fetch.start):
        truth[fetch.pid].append(fetch)
    for row in sorted(pair.trace.batches, key=lambda row: row["fetch_start_ns"] or 0):
        if row["fetch_ns"] is not None:
            found[row["worker_pid"]].append(row)
    assert {pid: len(rows) for pid, rows in found.items()} == {pid: len(rows) for pid, rows in truth.items()}
    durations = {}
    for pid, rows_of_pid in found.items():
        assert [row["samples"] for row in rows_of_pid] == [len(fetch.keys) for fetch in truth[pid]]
        for place, (fetch, row) in enumerate(zip(truth[pid], rows_of_pid)):
            durations[pid, place] = _fetch_bounds(fetch, row)
    _between(durations, "fetch")


def pinning(pair):
    """Each batch is pinned once, between its arrival and its use, and the durations agree."""
    found = sorted(pair.trace.batches, key=lambda row: row["pin_queued_at_ns"] or 0)
    truth = sorted(pair.truth.pins, key=lambda call: call.end)
    assert len(found) == len(truth) == len(pair.truth.consumed)
    off = []
    for row, call in zip(found, truth):
        assert row["deserialize_ns"] is not None and row["pin_ns"] is not None, row
        assert row["fetch_start_ns"] < row["pin_queued_at_ns"] <= row["received_at_ns"] + NEAR_NS
        off.append(abs(row["pin_ns"] - call.ns) - SHARE * call.ns)
    agree(statistics.median(off) <= CALL_NS, "pinning", off)
    agree(sum(ns > INTERRUPTED_NS for ns in off) <= max(2, INTERRUPTED_SHARE * len(off)), "pinning", off)


def transfer(pair):
    """The report's transfer times are those of batches, without other messages in the same queue."""
    report = pair.trace.report
    steps = {step: report["transfer"][f"{step}_ms"] for step in ("serialize", "send", "deserialize")}
    steps["pin"] = report["pin"]["ms"]
    for step, told in steps.items():
        found = [row[f"{step}_ns"] for row in pair.trace.batches if row[f"{step}_ns"] is not None]
        assert len(found) == len(pair.truth.fetches if step != "pin" else pair.truth.pins), step
        if found:
            assert abs(told["mean"] * 1e6 - statistics.fmean(found)) <= 1000, step
            assert abs(told["min"] * 1e6 - min(found)) <= 1000, step


def summary(pair):
    """The report's totals agree with its own rows and with the truth."""
    report = pair.trace.report
    consumed = pair.truth.consumed
    assert report["batches"]["count"] == len(pair.truth.fetches)
    assert report["wait"]["count"] == len(consumed)
    share = 100 * sum(batch.out_of_order for batch in consumed) / len(consumed)
    assert abs(report["wait"]["out_of_order_percent"] - share) < 0.01
    total = sum(batch.wait for batch in consumed)
    told = report["wait"]["total_s"] * 1e9
    agree(abs(told - total) <= SHARE * total + NEAR_NS * len(consumed) / 10, "wait in all", told, total)
    assert report["trace"]["workers"] == len({fetch.pid for fetch in pair.truth.fetches} - {pair.truth.main_pid})
    assert report["verdict"]["bound"] in ("input", "compute", "balanced")


def everything_but_ops(pair):
    """All checks but that of operations, for a map dataset and one loader."""
    same(pair)
    whole(pair)
    batches(pair)
    summary(pair)


def everything(pair, **options):
    """All checks, for a map dataset and one loader; options as for ops()."""
    everything_but_ops(pair)
    ops(pair, **options)
