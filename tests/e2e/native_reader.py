"""Reads the native entry points of a trace."""
import collections

Total = collections.namedtuple("Total", "calls bytes ns")
Entry = collections.namedtuple("Entry", "span op name library calls bytes ns span_ns")


def entries(trace):
    """One Entry for each `native` record. `op`: the operations that were open, outermost first."""
    names = {(record["pid"], record["id"]): (record["name"], record["library"]) for record in trace.named("hook")}
    ns_per_tick = trace.info["clock"]["ns_per_tick"]
    found, waiting, open_spans = [], collections.defaultdict(list), collections.defaultdict(list)
    for record in trace.records:
        thread = (record["pid"], record["stream"])
        if record["kind"] in trace.spans:
            open_spans[thread].append(record)
        elif record["kind"] == "native":
            waiting[thread].append(record)
        elif "closes" in record:
            ops = tuple(span["name"] for span in open_spans[thread] if span["kind"] == "op")
            for native in waiting.pop(thread, []):
                name, library = names[native["pid"], native["hook"]]
                found.append(Entry(record["closes"], ops, name, library, native["calls"], native["bytes"],
                                   native["ticks"] * ns_per_tick, record["duration_ns"]))
            open_spans[thread].pop()
    assert not any(waiting.values())
    return found


def totals(found):
    """The totals by name."""
    sums = collections.defaultdict(lambda: [0, 0, 0.0])
    for entry in found:
        for place, value in enumerate((entry.calls, entry.bytes, entry.ns)):
            sums[entry.name][place] += value
    return {name: Total(*values) for name, values in sums.items()}


def below(found, op):
    """The entries inside this operation, including nested operations."""
    return [entry for entry in found if op in entry.op]
