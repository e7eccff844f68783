"""The workloads of the paper on control flow: what they count of themselves is what their sizes say; being traced changes
neither their counts nor a bit of their outputs; and their twins, which have no control flow, compute the same."""
import importlib.util
import json

import pytest

import harness

PLACE = harness.PROGRAMS / "cocktailer"
TREES = importlib.util.spec_from_file_location("trees", PLACE / "trees.py")
trees = importlib.util.module_from_spec(TREES)
TREES.loader.exec_module(trees)
STARTS = {"loops": ("for ", "while "), "branches": ("if ",), "functions": ("def ",)}


def command(workload, *options):
    return [harness.PYTHON, PLACE / f"{workload}.py", *options]


def told(outcome):
    assert outcome.code == 0, outcome.stderr.decode()
    return json.loads(outcome.stdout)


@pytest.fixture(scope="module")
def plain():
    """plain(workload, *options): the Outcome without the tracer; each is run once."""
    made = {}

    def run(*words):
        if words not in made:
            made[words] = harness.run(command(*words))
        return made[words]

    return run


def counts(result):
    """{function: its counts}, of what was reached, in the order of lines: (entries, iterations) of loops, (taken, not taken)
    of branches, (calls, depth) of functions, (kind, count) of extractions."""
    truth, rows = result["truth"], {"loops": {}, "branches": {}, "functions": {}}
    for kind, found in rows.items():
        for row in truth[kind]:
            values = tuple(value for key, value in row.items() if key not in ("line", "function"))
            if any(values):
                found.setdefault(row["function"], []).append(values)
    return {**rows, "extractions": [(row["kind"], row["count"]) for row in truth["extractions"]]}


def lstm(layers, steps, **_):
    return {"loops": {"LSTM.forward": [(1, steps), (steps, layers * steps)]}, "branches": {}, "extractions": [],
            "functions": {"Cell.forward": [(layers * steps, 1)], "LSTM.forward": [(1, 1)]}}


def nasrnn(steps, **_):
    return {"loops": {"NASRNN.forward": [(1, steps)]}, "branches": {}, "extractions": [],
            "functions": {"NASCell.forward": [(steps, 1)], "NASRNN.forward": [(1, 1)]}}


def attention(first, end, **_):
    return {"loops": {"Attention.forward": [(1, end - first)]}, "branches": {}, "extractions": [],
            "functions": {"Attention.split": [(3 * (end - first), 1)], "Attention.forward": [(1, 1)]}}


def seq2seq(longest, **_):
    return {"loops": {"Decoder.forward": [(1, longest)]}, "branches": {}, "extractions": [("item", longest)],
            "functions": {"Decoder.forward": [(1, 1)]}}


def nearest(rate, blocks):
    return int(rate * blocks / 100 + 0.5)


def blockdrop(blocks, rate, **_):
    runs = nearest(rate, blocks)
    functions = {"Block.shortcut": [(blocks, 1)], "Policy.forward": [(1, 1)], "BlockDrop.forward": [(1, 1)]}
    if runs:
        functions["Block.forward"] = [(runs, 1)]
    return {"loops": {"BlockDrop.forward": [(1, blocks)]}, "functions": functions, "extractions": [("bool", blocks)],
            "branches": {"Block.shortcut": [(blocks - 2, 2)], "BlockDrop.forward": [(runs, blocks - runs)]}}


def skipnet(groups, rate, **_):
    gated = sum(groups) - 1
    runs = nearest(rate, gated)
    return {"loops": {"SkipNet.forward": [(1, gated)]}, "branches": {"SkipNet.forward": [(runs, gated - runs)]},
            "functions": {"Bottleneck.forward": [(1 + runs, 1)], "Gate.forward": [(gated, 1)], "SkipNet.forward": [(1, 1)]},
            "extractions": [("bool", gated)]}


def rae(nodes, depth, **_):
    return {"loops": {}, "branches": {"RAE.encode": [((nodes + 1) // 2, nodes // 2)]},
            "functions": {"RAE.encode": [(nodes, depth)], "RAE.forward": [(1, 1)]},
            "extractions": [("bool", nodes), ("item", nodes // 2), ("item", nodes // 2)]}


def tree_depth(nodes, seed):
    left, right = trees.made(nodes, seed)
    level, depth = [0], 0
    while level:
        level, depth = [child for node in level for child in (left[node], right[node]) if child >= 0], depth + 1
    return depth


WORKLOADS = {workload.__name__: workload for workload in (lstm, nasrnn, attention, seq2seq, blockdrop, skipnet, rae)}
VARIANTS = [("lstm", "--batch", "64"), ("blockdrop", "--rate", "0"), ("blockdrop", "--rate", "100"),
            ("skipnet", "--rate", "25"), ("skipnet", "--rate", "100"), ("rae", "--seed", "1")]
RUNS = [*((name,) for name in WORKLOADS), *VARIANTS]


@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_counts_are_what_the_sizes_say(plain, words):
    result = told(plain(*words))
    known = {**result, **result["parameters"]}
    if words[0] == "rae":
        known["depth"] = tree_depth(known["nodes"], known["seed"])
    assert counts(result) == WORKLOADS[words[0]](**known)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_lines_are_those_of_the_source(plain, workload):
    lines = (PLACE / f"{workload}.py").read_text().splitlines()
    for kind, rows in told(plain(workload))["truth"].items():
        for row in rows:
            text = lines[row["line"] - 1].strip()
            if kind == "extractions":
                assert ".item()" in text if row["kind"] == "item" else text.startswith("if "), row
            else:
                assert text.startswith(STARTS[kind]), row


@pytest.mark.parametrize("workload", WORKLOADS)
def test_traced_is_the_same(plain, workload, tracer):
    outcome, _ = tracer.run(command(workload))
    assert outcome.lotus_lines  # it was there
    assert outcome.visible == plain(workload).visible


@pytest.mark.parametrize("workload", WORKLOADS)
def test_twin_computes_the_same(plain, workload):
    twin = told(harness.run(command(workload, "--twin")))
    assert twin["comparison"]["close"] and twin["region_calls"] == 2
    if twin["comparison"]["bit_equal"]:
        assert twin["output"] == told(plain(workload))["output"]


@pytest.mark.parametrize("workload, blocks", [("blockdrop", 15), ("skipnet", 32)])
def test_skipping_nothing_computes_what_the_network_without_gates_does(plain, workload, blocks):
    without, gated = told(plain(workload, "--no-skip")), told(plain(workload, "--rate", "100"))
    assert without["output"] == gated["output"][:1]
    assert without["region"] == "ResNet.forward"
    assert counts(without)["loops"] == {"ResNet.forward": [(1, blocks)]} and counts(without)["extractions"] == []


JUMPS = """
class Model:
    def __init__(self):
        self.parts = [part for part in range(3)]

    def fall(self, n):
        if n:
            return self.fall(n - 1)
        return 0

    def forward(self, x):
        n = 0
        for part in self.parts:
            if part == 1:
                continue
            elif part == 2:
                n += x.item()
        else:
            n += 1
        while n < 5:
            n += 1
            if n == 4:
                break
        return self.fall(3)
"""
COUNT = """
import counting, json, sys, torch
names, counters = counting.copy_of(sys.argv[1])
model = names["Model"]()
counters.clear()
with counters.watched():
    model.forward(torch.tensor(1))
torch.tensor(1).item()
print(json.dumps({"truth": counters.told(), "name": names["Model"].forward.__qualname__}))
"""


def counting(tmp_path, source):
    (tmp_path / "jumps.py").write_text(source)
    return harness.run([harness.PYTHON, "-c", COUNT, tmp_path / "jumps.py"], cwd=PLACE)


def test_counting_follows_jumps(tmp_path):
    result = told(counting(tmp_path, JUMPS))
    assert counts(result) == {
        "loops": {"Model.forward": [(1, 3), (1, 2)]},
        "branches": {"Model.fall": [(3, 1)], "Model.forward": [(1, 2), (1, 1), (1, 1)]},
        "functions": {"Model.fall": [(4, 4)], "Model.forward": [(1, 1)]}, "extractions": [("item", 1)]}
    assert result["name"] == "counted.<locals>.Model.forward"


def test_counting_refuses_what_it_cannot_count(tmp_path):
    outcome = counting(tmp_path, JUMPS.replace("n += x.item()", "n += 1 if n else 2"))
    assert outcome.code == 1 and b"line 17: control flow inside an expression" in outcome.stderr
