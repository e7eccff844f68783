"""Invariants of every trace, whatever the program does: spans nest, time increases, nothing is negative."""
import collections


def problems(trace):
    """Descriptions of the violated invariants; [] if there are none."""
    found = []
    report = trace.report["trace"]
    if report["truncated"]:
        found.append("truncated")
    if report["lost_events"] != 0:
        found.append(f"{report['lost_events']} events lost")
    if trace.info["damaged"]["count"] != 0:
        found.append(f"damaged: {trace.info['damaged']}")
    if trace.info["unmatched_leaves"] != 0:
        found.append(f"{trace.info['unmatched_leaves']} spans left that were not open")
    return found + _of_records(trace)


def _of_records(trace):
    spans = trace.spans
    images = collections.Counter(record["pid"] for record in trace.named("process"))
    open_spans = collections.defaultdict(list)  # by process and stream: (kind, time)
    last = {}
    found = []
    for record in trace.records:
        if not record["stream"] or images[record["pid"]] > 1:  # after an exec streams are numbered anew
            if record.get("duration_ns", 0) < 0:
                found.append(f"negative: {record}")
            continue
        thread = record["pid"], record["stream"]
        if record["t_ns"] < last.get(thread, 0):
            found.append(f"back in time: {record}")
        last[thread] = record["t_ns"]
        if record["kind"] in spans:
            open_spans[thread].append((record["kind"], record["t_ns"]))
        elif record["kind"].startswith("leave"):
            found += _of_leave(record, open_spans[thread])
    return found


def _of_leave(record, stack):
    if not stack:
        return [f"leaves what was never entered: {record}"]
    kind, start = stack.pop()
    if record.get("closes") != kind:
        return [f"closes something else than {kind}: {record}"]
    if record["duration_ns"] != record["t_ns"] - start:
        return [f"began at {start}: {record}"]
    return []
