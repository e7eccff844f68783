"""What a training step holds in memory, against what the program's own allocator, weak references and lists say."""
import csv
import json

import pytest

import harness


def memory(trace, *options):
    outcome = harness.run([harness.ANALYZE, "memory", *options, trace.path])
    assert outcome.code == 0, outcome.stderr.decode()
    return outcome.stdout.decode()


def traced(tracer, *options, **environment):
    outcome, trace = tracer.trace(harness.program("memory_steps", *options), **environment)
    assert outcome.code == 0, outcome.stderr.decode()
    return json.loads(outcome.stdout), trace, json.loads(memory(trace, "--json"))


@pytest.mark.parametrize("model", ["mlp", "cnn", "attention"])
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_peak_of_each_step(tracer, model, optimizer):
    truth, _, told = traced(tracer, model, optimizer, LOTUS_STEPS="all")
    steps = told["steps"]
    assert [step["number"] for step in steps[:truth["steps"]]] == list(range(truth["steps"]))
    assert told["storages_known"]
    for step, rise in zip(steps[:-1], truth["rise"]):  # the program ends inside of the last one
        assert step["whole"] and step["trains"]
        rose = step["peak_bytes"] - step["live_before_bytes"]
        if truth["exact"]:
            assert rose == pytest.approx(rise, rel=0.01)
        else:
            assert rose >= 0.98 * rise
    if model == "cnn":  # whose peak is between two modules
        assert rose <= 1.05 * rise + (1 if truth["exact"] else 2) * truth["largest"]


@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_what_is_alive_when_the_backward_pass_begins(tracer, model):
    truth, trace, _ = traced(tracer, model, "Adam", LOTUS_STEPS="all")
    live, step = {}, None
    for record in trace.records:
        if record["kind"] == "step":
            step = record["number"]
        elif record["kind"] == "allocated":
            live[record["address"]] = record["bytes"]
        elif record["kind"] == "released":
            live.pop(record["address"], None)
        elif record["kind"] == "torch_op" and record["phase"] == 1 and step == truth["steps"] - 1:
            break
    assert truth["alive"]
    assert all(live.get(address) == size for address, size in truth["alive"])


def test_operators_and_their_storages(tracer):
    """Each operator that computes with tensors has some; phases follow each other; lines are those of the program."""
    _, trace, told = traced(tracer, "mlp", "SGD", LOTUS_STEPS="all")
    names = {hook["id"]: hook["name"] for hook in trace.named("hook")}
    records = iter(trace.records)
    for record in records:
        if record["kind"] == "step" and record["number"] == 2:
            break
    operands, phases, checked = 0, [], 0
    for record in records:
        if record["kind"] == "operand":
            operands += 1
        elif record["kind"] == "torch_op":
            if names[record["hook"]] in ("aten::linear", "aten::addmm", "aten::relu", "aten::mm"):
                assert operands >= 2
                checked += 1
            operands = 0
            phases.append(record["phase"])
        elif record["kind"] == "step_end":
            break
    assert checked >= 3
    changes = [phase for i, phase in enumerate(phases) if i == 0 or phases[i - 1] != phase]
    assert changes[:3] == [0, 1, 2]
    assert told["peak_at"]["file"].endswith("memory_steps.py") and told["floor_at"]["op"].startswith("aten::")
    assert 0 < told["floor_bytes"] <= told["peak_bytes"]


def kinds_and_sizes(trace):
    types = {0: "uint8", 4: "int64", 6: "float32", 7: "float64", 11: "bool"}
    return {form["id"]: [types[form["dtype"]], [int(size) for size in form["sizes"].split("x") if size]]
            for form in trace.named("tensor_form")}


def own_line(trace, place, file):
    """The innermost line of the program's own file on the way to a place."""
    places = {row["id"]: row for row in trace.named("place")}
    codes = {row["id"]: row["file"] for row in trace.named("python_code")}
    while place and not codes[places[place]["code"]].endswith(file):
        place = places[place]["parent"]
    return places[place]["line"] if place else None


def test_kinds_sizes_and_lines_of_the_forward_pass(tracer):
    plain = json.loads(harness.run(harness.program("memory_forms")).stdout)
    outcome, trace = tracer.trace(harness.program("memory_forms"), LOTUS_STEPS="all")
    assert outcome.code == 0, outcome.stderr.decode()
    truth = json.loads(outcome.stdout)
    assert truth["asked"] == plain["asked"]  # no tensor was asked
    forms = kinds_and_sizes(trace)
    told, lines, made = {}, {}, []
    for record in trace.records:
        if record["kind"] == "operand" and record["form"]:
            told.setdefault(record["data"], []).append(forms[record["form"]])
        elif record["kind"] == "allocated":
            made.append(record["address"])
        elif record["kind"] == "torch_op":
            if record["forward"]:
                assert record["phase"] == 1
                lines.update((address, own_line(trace, record["forward"], "memory_forms.py")) for address in made)
            made.clear()
    for address, form in truth["forms"].items():
        assert form in told[int(address)], (form, told[int(address)])
    assert {int(address): line for address, line in truth["gradients"].items()}.items() <= lines.items()
    told = json.loads(memory(trace, "--json"))
    largest = [group["largest"] for group in told["alive_at_peak"] if group["role"] == "gradient"]
    assert "float64[40, 48]" in largest, told["alive_at_peak"]
    assert any(group["forward"] for group in told["alive_at_peak"])


@pytest.mark.parametrize("model", ["modules", "recursion"])
def test_lines_are_the_same_where_calls_are_recorded(tracer, model):
    """With control flow a line's way comes from the calls that are open, and is told short of a recursion."""
    told = {}
    for calls in "0", "1":
        outcome, trace = tracer.trace(harness.program("memory_nested", model), LOTUS_STEPS="all", LOTUS_CONTROL_FLOW=calls)
        assert outcome.code == 0, outcome.stderr.decode()
        truth = json.loads(outcome.stdout)["lines"]
        alive = [group for group in json.loads(memory(trace, "--step", "3", "--json"))["alive_at_peak"]
                 if group["role"] != "untouched"]  # which also holds what PyTorch made elsewhere
        stacks = [line for line in memory(trace, "--step", "3", "--folded").splitlines() if not line.startswith("older, not used")]
        told[calls] = alive, stacks
        names = {hook["id"]: hook["name"] for hook in trace.named("hook")}
        lines, results = {}, {}
        forms = {form["id"]: "float32[" + form["sizes"].replace("x", ", ") + "]" for form in trace.named("tensor_form")}
        for record in trace.records:
            if record["kind"] == "operand" and record["form"]:
                results[record["use"]] = forms[record["form"]]
            elif record["kind"] == "torch_op":
                if names[record["hook"]] == "aten::linear" and results.get(2) in truth:  # its weight
                    lines.setdefault(results[2], set()).add(own_line(trace, record["place"], "memory_nested.py"))
                results = {}
        assert lines == {form: {line} for form, line in truth.items()}
    assert told["0"][0] == told["1"][0]
    if model == "modules":
        assert told["0"][1] == told["1"][1]


def test_figure_of_a_step(tracer, tmp_path):
    pytest.importorskip("matplotlib")
    _, trace, told = traced(tracer, "cnn", "Adam", LOTUS_STEPS="all")
    memory(trace, "--figures", tmp_path / "figures")
    assert (tmp_path / "figures/memory-step.svg").stat().st_size > 10_000
    rows = list(csv.DictReader((tmp_path / "figures/memory-step.csv").open()))
    (peak,) = [row for row in rows if row["kind"] == "peak"]
    assert int(peak["bytes"]) == told["peak_bytes"]
    held = sum(int(row["bytes"]) for row in rows if row["kind"] == "in use" and row["begin_ms"] == peak["begin_ms"])
    beside = sum(told["peak_by_role"].values()) - told["peak_bytes"]
    assert held - beside == told["peak_bytes"] and {row["name"] for row in rows if row["kind"] == "phase"} >= {"forward", "backward"}


def test_list_that_grows(tracer):
    truth, trace, told = traced(tracer, "mlp", "Adam", "list", LOTUS_STEPS="all")
    growth = told["growth"]
    assert growth["bytes_per_step"] == truth["kept"] / truth["steps"] == 4000
    (left,) = growth["left_behind"]
    source = (harness.PROGRAMS / "memory_steps.py").read_text().splitlines()
    assert "kept.append" in source[left["line"] - 1] and left["storages"] == 1 and left["op"].startswith("aten::")
    assert not growth["keeps_graphs"]
    first = memory(trace).split("\n\n")[0]
    assert "Memory grows by 3.91 KiB a step" in first.replace("\n", " ") and "memory_steps.py:" in first


def test_graphs_that_are_kept(tracer):
    _, trace, told = traced(tracer, "cnn", "SGD", "graphs", LOTUS_STEPS="all")
    assert told["growth"]["keeps_graphs"] and told["growth"]["bytes_per_step"] > 10_000
    assert "loss.detach()" in memory(trace)


def test_batch_that_is_large(tracer):
    _, trace, told = traced(tracer, "cnn", "SGD", "batch")
    assert told["growth"]["bytes_per_step"] == 0
    assert any("grows with the size of the batch" in finding for finding in told["findings"])
    largest = next(group for group in told["alive_at_peak"] if group["role"] != "untouched")
    assert largest["role"] in ("activation", "backward") and largest["file"].endswith("memory_steps.py")


def test_training_without_a_loader(tracer):
    truth, _, told = traced(tracer, "mlp", "SGD", "alone", LOTUS_STEPS="all")
    assert sum(step["whole"] for step in told["steps"]) == truth["steps"] - 1  # it takes one to know where steps end


def test_workers_are_not_mixed_in(tracer):
    truth, trace, told = traced(tracer, "mlp", "SGD", "workers", LOTUS_STEPS="all")
    assert [step["number"] for step in told["steps"]] == list(range(len(told["steps"]))) and len(told["steps"]) >= truth["steps"] - 1
    of_lane = {(record["pid"], record["tid"]) for record in trace.records
               if record["kind"] in ("step", "torch_op", "operand", "allocated", "released")}
    training = trace.named("step")[0]["pid"]
    assert of_lane == {(training, training)}
    assert len({record["pid"] for record in trace.records} - {0}) == 3  # 0: the collector


def test_few_steps_by_default(tracer):
    """Those of the beginning; then so few that they cost little."""
    truth, _, told = traced(tracer, "mlp", "SGD")
    assert [step["number"] for step in told["steps"]][:4] == [0, 1, 2, 3]


def test_no_step_where_none_is_wanted(tracer):
    outcome, trace = tracer.trace(harness.program("memory_steps", "mlp", "SGD"), LOTUS_STEPS="0")
    assert outcome.code == 0, outcome.stderr.decode()
    assert trace.named("torch_op") == []
    for options in [], ["--json"]:  # as memory-plan does
        told = harness.run([harness.ANALYZE, "memory", *options, trace.path])
        assert told.code == 1 and told.stdout == b""
        assert f"{trace.path}: no step of training is recorded".encode() in told.stderr and b"LOTUS_STEPS" in told.stderr


def test_region_in_place_of_steps(tracer):
    outcome, trace = tracer.trace(harness.program("memory_steps", "mlp", "SGD"), LOTUS_REGION="never.called")
    assert outcome.code == 0, outcome.stderr.decode()
    for command in "memory", "memory-plan":
        told = harness.run([harness.ANALYZE, command, trace.path])
        assert told.code == 1 and b"LOTUS_REGION was set" in told.stderr and b"LOTUS_CONTROL_FLOW=1" in told.stderr
        assert b"never.called" not in told.stderr  # the name is the program's
    told = harness.run([harness.ANALYZE, "control-flow", trace.path])
    assert told.code == 0 and b"No call of the function that LOTUS_REGION named was seen" in b" ".join(told.stdout.split())


def test_region_of_what_trains_nothing(tracer):
    """The reason is not that steps were not asked for."""
    outcome, trace = tracer.trace(harness.program("cocktailer/rae"), LOTUS_REGION="RAE.forward")
    assert outcome.code == 0, outcome.stderr.decode()
    assert not trace.named("no_steps") and trace.named("region")
    for command in "memory", "memory-plan":
        told = harness.run([harness.ANALYZE, command, trace.path])
        assert told.code == 1 and b"LOTUS_REGION was set" in told.stderr and b"LOTUS_STEPS" not in told.stderr


def test_results_are_the_same_bit_for_bit(tracer):
    plain = harness.run(harness.program("memory_steps", "cnn", "Adam"))
    truth, _, _ = traced(tracer, "cnn", "Adam", LOTUS_STEPS="all")
    assert json.loads(plain.stdout)["loss"] == truth["loss"]


def test_folded_stacks_sum_to_what_is_alive(tracer):
    _, trace, told = traced(tracer, "cnn", "SGD", LOTUS_STEPS="all")
    lines = memory(trace, "--folded").splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == sum(group["bytes"] for group in told["alive_at_peak"])
    assert any("forward (" in line and "aten::" in line for line in lines)


def test_step_that_is_not_there(tracer):
    _, trace, _ = traced(tracer, "mlp", "SGD", LOTUS_STEPS="all")
    outcome = harness.run([harness.ANALYZE, "memory", "--step", "77", trace.path])
    assert outcome.code == 2 and b"--step 77: no such step; there are 0 to " in outcome.stderr


@pytest.mark.parametrize("command", [["memory", "--step"], ["memory", "--rows"], ["control-flow", "--rows"],
                                     ["memory-plan", "--step"], ["whatif", "--loader"]])
def test_negative_count(command):
    outcome = harness.run([harness.ANALYZE, *command, "-1"])
    assert outcome.code == 2 and b"-1" in outcome.stderr and b"is less than 0" in outcome.stderr


@pytest.mark.parametrize("kind", ["main", "backward", "replicas", "part"])
def test_what_other_threads_do_is_said_to_be_missing(tracer, kind):
    outcome, trace = tracer.trace(harness.program("memory_threads", kind), LOTUS_STEPS="all")
    assert outcome.code == 0, outcome.stderr.decode()
    told = json.loads(memory(trace, "--json"))
    steps = [step for step in told["steps"] if step["whole"] and step["number"] > 1]
    assert len(steps) >= 4
    for step in steps:
        assert (step["elsewhere_bytes"] != 0) == (kind != "main"), step
        assert step["trains_elsewhere"] == (kind in ("backward", "replicas")), step
    text = " ".join(memory(trace, "--step", str(steps[0]["number"])).split())
    assert ("Operators and memory of other threads are not recorded" in text) == (kind != "main")
    assert ("No backward pass ran in the main thread" in text) == (kind in ("backward", "replicas"))
    assert "if nothing is trained here" not in text
