"""Checks the rules of the Chrome trace event format that viewers rely on."""
import collections
from decimal import Decimal


def check(events):
    """Checks names, times and nesting of all events, which must be read with parse_float=Decimal."""
    named = {kind: {(event["pid"], event["tid"] if kind == "thread_name" else None): event["args"]["name"]
                    for event in events if event["ph"] == "M" and event["name"] == kind}
             for kind in ("process_name", "thread_name")}
    lanes = collections.defaultdict(list)
    counters = collections.defaultdict(list)
    for event in events:
        assert event["ph"] in ("X", "M", "C", "s", "f", "i"), event
        assert event["ph"] == "M" or event["ts"] >= 0, event
        if event["ph"] == "X":
            assert event["dur"] >= 0, event
            lanes[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event["name"]))
        elif event["ph"] == "C":
            counters[event["pid"], event["name"]].append(event["ts"])
    for pid, tid in lanes:
        assert (pid, None) in named["process_name"] and named["process_name"][pid, None], pid
        assert (pid, tid) in named["thread_name"] and named["thread_name"][pid, tid], (pid, tid)
    for lane in lanes.values():
        nested(lane)
    for times in counters.values():
        assert times == sorted(times)
    return arrows(events, lanes)


def nested(lane):
    """Checks that slices of one thread, sorted by start, nest without partial overlap."""
    around = []
    for start, end, name in sorted(lane, key=lambda slice_: (slice_[0], -slice_[1])):
        while around and around[-1][1] <= start:
            around.pop()
        assert not around or end <= around[-1][1], (around[-1], (start, end, name))
        around.append((start, end, name))


def arrows(events, lanes):
    """{id: (start, end)}. Checks that each arrow has a start before an end, both inside slices."""
    ends = {"s": {}, "f": {}}
    for event in events:
        if event["ph"] in ends:
            key = event["cat"], event["name"], event["id"]
            assert key not in ends[event["ph"]], event
            ends[event["ph"]][key] = event
            slices = lanes[event["pid"], event["tid"]]
            assert any(start <= event["ts"] <= end for start, end, _ in slices), event
    assert set(ends["s"]) == set(ends["f"])
    for key, start in ends["s"].items():
        assert start["ts"] <= ends["f"][key]["ts"]
        assert ends["f"][key]["bp"] == "e"
    return {key[2]: (start, ends["f"][key]) for key, start in ends["s"].items()}


def total_ns(events, chosen):
    """The total length of the slices for which chosen(event) is true."""
    return sum(round(Decimal(event["dur"]) * 1000) for event in events if event["ph"] == "X" and chosen(event))
