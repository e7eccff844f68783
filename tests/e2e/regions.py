"""Reads the regions of a trace, record by record: the calls of Python functions in each, and the operators."""
import collections
import re

import harness

Call = collections.namedtuple("Call", "code name file line depth resumed place parent")
Operator = collections.namedtuple("Operator", "name line offset call place_code ticks nested")


class Region:
    def __init__(self, number):
        self.number, self.calls, self.operators, self.open = number, [], [], []
        self.incomplete = self.cost = self.duration_ns = None


def of(trace, begin="region", end="region_end"):
    """The Regions of a trace, in order."""
    codes = {record["id"]: record for record in trace.named("python_code")}
    places = {record["id"]: record for record in trace.named("place")}
    hooks = {record["id"]: record["name"] for record in trace.named("hook")}
    found, region, began = [], None, 0
    for record in trace.records:
        kind = record["kind"]
        if kind == begin:
            region, began = Region(record["number"]), record["t_ns"]
            found.append(region)
        elif region is None:
            continue
        elif kind == end:
            assert record["number"] == region.number
            region.incomplete, region.cost = record["incomplete"], record.get("cost")
            region.duration_ns = record["t_ns"] - began
            region = None
        elif kind == "python_call":
            code = codes[record["code"]]
            depth = 1 + sum(call.code == record["code"] for call in region.open)
            call = Call(record["code"], code["name"], code["file"], code["line"], depth, record["resumed"],
                        places.get(record["place"]), region.open[-1] if region.open else None)
            region.open.append(call)
            region.calls.append(call)
        elif kind == "python_return":
            if region.open:
                region.open.pop()
        elif kind == "torch_op":
            place = places.get(record["place"], {"line": 0, "offset": 0, "code": 0})
            region.operators.append(Operator(hooks.get(record["hook"]), place["line"], place["offset"],
                                             region.open[-1] if region.open else None, place["code"],
                                             record["ticks"], record["nested"]))
    return found


def tables(trace):
    """{function: [its (bytecode, table of lines, names, table of exceptions), …]}, of all that were told."""
    codes = {record["id"]: record["name"] for record in trace.named("python_code")}
    found = collections.defaultdict(list)
    for line in harness.run([harness.ANALYZE, "dump", trace.path]).stdout.decode().splitlines():
        told = re.search(r' code_table code=(\d+) bytecode="(.*)" lines="(.*)" names="(.*)" calls_seen=1 exceptions="(.*)"', line)
        if told is not None:
            bytecode, lines, names, exceptions = map(unescaped, told.groups()[1:])
            found[codes[int(told[1])]].append((bytecode, lines, names.decode().split("\n"), exceptions))
    return found


ESCAPES = {"\\n": b"\n", "\\t": b"\t", "\\r": b"\r", "\\\\": b"\\"}


def unescaped(text):
    parts = re.findall(r"\\x..|\\.|[^\\]+", text, re.DOTALL)
    return b"".join(bytes.fromhex(part[2:]) if part.startswith("\\x") else ESCAPES.get(part) or part.encode() for part in parts)
