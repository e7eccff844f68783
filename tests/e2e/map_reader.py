"""Reads `lotus-analyze map --full`."""
import collections
import json

import harness

Function = collections.namedtuple("Function", "name library samples total share low high listed named_by under")


class Operation:
    def __init__(self, row):
        self.samples = row["samples"]
        self.effective = row["effective_samples"]
        self.cpu_s = row["cpu_s"]
        self.on_behalf = row["on_behalf_samples"]
        self.calls = row["calls"]
        # Includes functions that were on a stack only as callers.
        self.functions = [
            Function(found["function"], found["library"], found["samples"], found["total_samples"],
                     *(found[key] / 100 for key in ("share_percent", "share_percent_low", "share_percent_high")),
                     found["listed"], found["named_by"], found["under"])
            for found in row["functions"]]
        self.entry_points = {entry["function"]: entry["calls"] for entry in row["entry_points"]}

    def named(self, name):
        """The function of this name. One without samples gets the interval for zero samples."""
        for function in self.functions:
            if function.name == name:
                return function
        most = 1 - 0.025 ** (1 / self.effective) if self.effective else 1
        return Function(name, None, 0, 0, 0.0, 0.0, most, False, None, None)


class Map:
    def __init__(self, document):
        self.document = document
        self.ops = {}
        for row in document["ops"]:
            assert row["name"] not in self.ops
            self.ops[row["name"]] = Operation(row)

    def ops_with(self, chosen):
        """Names of the operations in whose stacks there is a function for which chosen(function) is true."""
        return {name for name, op in self.ops.items() if any(chosen(function) for function in op.functions)}


def read(*paths):
    """Reads the map of these traces together."""
    outcome = harness.run([harness.ANALYZE, "map", "--full", *paths])
    assert outcome.code == 0, outcome.stderr.decode()
    return Map(json.loads(outcome.stdout))
