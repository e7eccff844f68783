"""What loops, branches and recursion of a region are said to be, against what programs count of themselves."""
import json
import re

import pytest

import harness

PLACE = harness.PROGRAMS / "cocktailer"
WORKLOADS = ["lstm", "nasrnn", "attention", "seq2seq", "blockdrop", "skipnet", "rae"]
PARTS = ("native_s", "control_s", "python_s", "tracing_s")


def control_flow(*arguments):
    outcome = harness.run([harness.ANALYZE, "control-flow", *arguments])
    assert outcome.code == 0, outcome.stderr.decode()
    return outcome.stdout.decode()


def of_kind(told, kind):
    return [construct for construct in told["constructs"] if construct["kind"] == kind]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, tracers):
    """recorded(workload): (what the program says of one call, path of its trace, what control-flow says)."""
    made = {}

    def run(workload):
        if workload not in made:
            tracers.append(harness.Tracer(tmp_path_factory.mktemp(workload)))
            command = [harness.PYTHON, PLACE / f"{workload}.py", "--calls", "4"]
            region = json.loads(harness.run(command).stdout)["region"]
            outcome, trace = tracers[-1].trace(command, LOTUS_REGION=region, LOTUS_STEPS="all")
            assert outcome.code == 0, outcome.stderr.decode()
            made[workload] = (json.loads(outcome.stdout)["truth"], trace.path,
                              json.loads(control_flow("--json", trace.path)))
        return made[workload]

    return run


@pytest.mark.parametrize("workload", WORKLOADS)
def test_loops_are_what_the_program_counts(recorded, workload):
    truth, _, told = recorded(workload)
    wanted = sorted((row["line"], row["entries"], row["iterations"]) for row in truth["loops"] if row["iterations"])
    assert sorted((row["line"], row["entries"], row["iterations"]) for row in of_kind(told, "loop")) == wanted
    assert all(row["exact"] and not row["lower_bound"] for row in told["constructs"])


@pytest.mark.parametrize("workload", WORKLOADS)
def test_branches_are_what_the_program_counts(recorded, workload):
    truth, _, told = recorded(workload)
    wanted = sorted((row["line"], row["taken"], row["not_taken"], 0) for row in truth["branches"] if row["taken"] + row["not_taken"])
    found = of_kind(told, "branch")
    assert sorted((row["line"], row["taken"], row["not_taken"], row["unknown"]) for row in found) == wanted


@pytest.mark.parametrize("workload", WORKLOADS)
def test_recursions_are_what_the_program_counts(recorded, workload):
    truth, _, told = recorded(workload)
    wanted = [(row["line"], row["calls"], row["depth"]) for row in truth["functions"] if row["depth"] > 1]
    assert [(row["line"], row["calls"], row["depth"]) for row in of_kind(told, "recursion")] == wanted
    for row in of_kind(told, "recursion"):
        assert sum(level["calls"] for level in row["by_depth"]) == row["calls"]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_parts_are_the_whole(recorded, workload):
    """Of a region, and of its loops and recursions with what is outside of them."""
    _, _, told = recorded(workload)
    region, = told["regions"]
    assert all(region[part] >= 0 for part in PARTS)
    assert sum(region[part] for part in PARTS) == pytest.approx(region["wall_s"], rel=1e-6)
    parts = of_kind(told, "loop") + of_kind(told, "recursion")
    for part in PARTS:
        assert all(0 <= row["own"][part] <= row["within"][part] * (1 + 1e-9) for row in parts)
        own = region["outside"][part] + sum(row["own"][part] for row in parts)
        assert own == pytest.approx(region[part], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("workload", ["seq2seq", "blockdrop", "skipnet", "rae"])
def test_what_waits_for_data_is_said_to(recorded, workload):
    _, _, told = recorded(workload)
    by_data = {(row["kind"], row["line"]) for row in told["constructs"] if row["data_dependent"]}
    lines = {"seq2seq": ("loop", "while running:"), "blockdrop": ("branch", "if torch.sum("), "skipnet": ("branch", "if torch.sum("),
             "rae": ("branch", "if is_leaf[root]:")}
    kind, text = lines[workload]
    source = (PLACE / f"{workload}.py").read_text().splitlines()
    assert by_data == {(kind, number) for number, line in enumerate(source, 1) if line.strip().startswith(text)}


@pytest.mark.parametrize("workload", ["blockdrop", "skipnet"])
def test_only_what_serves_the_tests_is_control(recorded, workload):
    """The gate's output is added to, summed up, compared and read: the network is all else."""
    truth, _, told = recorded(workload)
    visits = next(row["taken"] + row["not_taken"] for row in truth["branches"] if row["taken"] and row["not_taken"])
    region, = told["regions"]
    each = region["control_operators"] / visits
    # To select what is added, to add, sum, compare and read; of the policy a column, with a slice up to PyTorch 1.13.
    assert each in ((6, 7) if workload == "blockdrop" else (5,))
    skip = next(row["skip"] for row in of_kind(told, "branch") if row["data_dependent"])
    assert skip["costly_side"] == "taken" and skip["costly_s"] > skip["cheap_s"]


def test_text_says_the_same(recorded):
    _, path, told = recorded("rae")
    text = control_flow(path)
    assert re.search(r"RAE\.encode +65 +12 ", text)
    words = " ".join(text.split())
    assert "12 deep" in words or "the thread did not compute" in words  # nothing is advised where a busy machine stopped it
    assert control_flow("--rows", "1", path)


MANY = 40  # calls: of so many the middle ones are alike, whatever else the machine, another thread or jit's profiler did


def traced(tracer, case, *words, **environment):
    plain = harness.run(harness.program("known_flow", case, *words))
    outcome, trace = tracer.trace(harness.program("known_flow", case, *words),
                                  **{"LOTUS_REGION": "call", "LOTUS_STEPS": "all", **environment})
    assert outcome.code == 0, outcome.stderr.decode()
    assert outcome.stdout == plain.stdout
    return trace, json.loads(control_flow("--json", trace.path))


def test_large_products_have_nothing_to_gain(tracer):
    trace, told = traced(tracer, "straight")
    assert told["constructs"] == []
    region, = told["regions"]
    assert region["calls"] == 6  # the other thread's calls are not among them
    assert region["operators"] == 5 and region["control_operators"] == 0
    if region["nothing_to_gain"]:  # a loaded machine may stop a thread between two operators
        assert control_flow(trace.path).startswith("Nothing to gain: ")
        assert region["findings"] == []


def test_what_is_traced_has_no_loop(tracer):
    _, told = traced(tracer, "traced", MANY)
    assert told["constructs"] == []
    assert told["regions"][0]["operators"] == 20
    _, told = traced(tracer, "looped")
    assert [(row["entries"], row["iterations"]) for row in of_kind(told, "loop")] == [(1, 10)]


def test_loops_with_calls_that_call_back_and_around_handlers(tracer):
    """CPython 3.11 calls by another instruction, once it has specialised it."""
    command = harness.program("counted_loops")
    outcome, trace = tracer.trace(command, LOTUS_REGION="Model.forward", LOTUS_STEPS="all")
    assert outcome.code == 0, outcome.stderr.decode()
    truth = {int(line): tuple(counts) for line, counts in json.loads(outcome.stdout).items()}
    told = json.loads(control_flow("--json", trace.path))
    loops = [row for row in of_kind(told, "loop") if "genexpr" not in row["function"]]
    assert {row["line"]: (row["entries"], row["iterations"]) for row in loops} == truth
    doubted = [row["line"] for row in loops if not row["exact"]]
    assert doubted == []


def test_slow_python_is_found_where_it_is(tracer):
    _, told = traced(tracer, "planted", MANY)
    source = (harness.PROGRAMS / "known_flow.py").read_text().splitlines()
    slow, fast = ([number for number, line in enumerate(source, 1) if line.endswith(f"# {word}")][0] for word in ("slow", "fast"))
    inner = next(number for number, line in enumerate(source, 1) if "in range(count)" in line)
    loops = {row["line"]: row for row in of_kind(told, "loop")}
    assert (loops[slow]["entries"], loops[slow]["iterations"]) == (1, 20)
    assert (loops[fast]["entries"], loops[fast]["iterations"]) == (1, 5)
    assert loops[inner]["unseen"] and loops[inner]["entries"] == 20
    first = max(loops.values(), key=lambda row: row["within"]["python_s"])
    assert first["line"] == slow
    assert of_kind(told, "loop")[0]["line"] == inner  # what costs most stands first


def test_helpers_comprehensions_and_generators(tracer):
    _, told = traced(tracer, "helpers")
    source = (harness.PROGRAMS / "known_flow.py").read_text().splitlines()
    line_of = {text: number for number, line in enumerate(source, 1)
               for text in ("for row in x:", "for row in x]", "for part in", "for row in rows:", "if self.large", "if torch.sum(row)")
               if text in line}
    loops = {row["line"]: (row["entries"], row["iterations"]) for row in of_kind(told, "loop")}
    assert loops[line_of["for row in x]"]] == (1, 4)
    assert loops[line_of["for part in"]] == (1, 4)
    assert loops[line_of["for row in x:"]] == (1, 4)
    assert all(row["exact"] for row in of_kind(told, "loop"))  # each call of torch.tanh() is one of aten::tanh
    branches = {row["line"]: row for row in of_kind(told, "branch")}
    assert (branches[line_of["if self.large"]]["taken"], branches[line_of["if self.large"]]["not_taken"]) == (0, 1)
    assert branches[line_of["if self.large"]]["data_dependent"]
    assert branches[line_of["if torch.sum(row)"]]["taken"] == 1


def counts_beside_the_lines(kind):
    """{line: numbers} of known_flow's lines that end with a comment "kind number number"."""
    source = (harness.PROGRAMS / "known_flow.py").read_text().splitlines()
    found = ((number, re.search(rf"# {kind} (\d+) (\d+)$", line)) for number, line in enumerate(source, 1))
    return {number: (int(match[1]), int(match[2])) for number, match in found if match}


def test_counts_of_plain_loops_are_exact(tracer):
    _, told = traced(tracer, "plain")
    loops = {row["line"]: (row["entries"], row["iterations"], row["exact"], row["lower_bound"]) for row in of_kind(told, "loop")}
    assert len(loops) == 7
    assert loops == {line: (*counts_beside_the_lines("loop")[line], True, False) for line in loops}
    branches = {row["line"]: (row["taken"], row["not_taken"], row["unknown"], row["exact"]) for row in of_kind(told, "branch")}
    assert len(branches) == 4
    assert branches == {line: (*counts_beside_the_lines("branch")[line], 0, True) for line in branches}


def test_counts_that_are_not_known_are_marked(tracer):
    trace, told = traced(tracer, "unclear")
    source = (harness.PROGRAMS / "known_flow.py").read_text().splitlines()
    first, last = (next(number for number, line in enumerate(source, 1) if line.startswith(text)) for text in ("async def waiting", "CASES"))
    wanted = {line: counts for line, counts in counts_beside_the_lines("loop").items() if first <= line <= last}
    loops = {row["line"]: row for row in of_kind(told, "loop")}
    assert wanted.keys() <= loops.keys()
    wrong = {line: (loops[line]["entries"], loops[line]["iterations"]) for line, counts in wanted.items()
             if loops[line]["exact"] and not loops[line]["lower_bound"]
             and (loops[line]["entries"], loops[line]["iterations"]) != counts}
    assert wrong == {}
    assert any(row["exact"] for row in loops.values()) and not all(row["exact"] for row in loops.values())
    wanted = {line: counts for line, counts in counts_beside_the_lines("branch").items() if first <= line <= last}
    for row in of_kind(told, "branch"):
        if row["line"] in wanted and row["exact"]:
            taken, not_taken = wanted[row["line"]]
            assert row["taken"] <= taken and row["not_taken"] <= not_taken
            assert row["taken"] + row["not_taken"] + row["unknown"] == taken + not_taken
        if not row["exact"]:
            assert row["taken_share"] is None and row["skip"] is None
    text = control_flow("--rows", "100", trace.path)
    assert "~" in text and "it may be more or fewer" in " ".join(text.split())
