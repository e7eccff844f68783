"""LOTUS_TRY=memory-plan=FILE: activations move to slow memory and back as planned, and all numbers stay as they are."""
import csv
import json
import re

import pytest

import harness

SLOW = ["--read-bandwidth", "200MB/s", "--write-bandwidth", "100MB/s"]  # slower than a copy, also on a loaded machine


def analyzed(*arguments):
    outcome = harness.run([harness.ANALYZE, "memory-plan", *arguments])
    assert outcome.code == 0, outcome.stderr.decode()
    return outcome.stdout.decode()


def planned(tracer, tmp_path, *program):
    """A plan with the least fast memory with which there is one, and what the program printed."""
    outcome, trace = tracer.trace(harness.program("planned_steps", *program), LOTUS_STEPS="all")
    assert outcome.code == 0, outcome.stderr.decode()
    floor = json.loads(analyzed(trace.path, "--json", "--mode", "numa"))["offload_floor_bytes"]
    told = analyzed(trace.path, "--json", "--mode", "offload", "--fast", str(floor), *SLOW)
    path = tmp_path / "plan.json"
    path.write_text(told)
    return path, json.loads(told), json.loads(outcome.stdout)


@pytest.mark.parametrize("model", ["mlp", "cnn", "attention", "viewed"])
def test_plan_that_is_carried_out(tracer, tmp_path, model):
    path, told, truth = planned(tracer, tmp_path, model)
    (run,) = told["runs"]
    assert run["num_move_nodes"] >= 4 and run["fast_peak_bytes"] <= run["fast_limit_bytes"] < told["default_alloc_bytes"]
    outcome, trace = tracer.trace(harness.program("planned_steps", model), LOTUS_TRY=f"memory-plan={path}")
    assert outcome.code == 0 and b"trying memory-plan=" in outcome.stderr, outcome.stderr.decode()
    came = json.loads(outcome.stdout)
    assert came["losses"] == truth["losses"] and came["gradients"] == truth["gradients"]
    (executed,) = json.loads(analyzed("--executed", "--json", trace.path))["executed"]
    assert executed["num_move_nodes"] == executed["num_planned_moves"] == run["num_move_nodes"]
    freed = told["default_alloc_bytes"] - run["fast_peak_bytes"]
    assert executed["predicted_peak_bytes"] == executed["base_peak_bytes"] - freed
    assert executed["bytes_moved"] == pytest.approx(run["bytes_moved"], rel=0.05)  # those in whole pages
    assert executed["move_time_s"] >= executed["predicted_move_time_s"] * 0.99
    assert executed["peak_bytes"] < executed["base_peak_bytes"]
    largest = max(row["bytes"] for row in told["plan"])
    assert executed["peak_bytes"] <= executed["predicted_peak_bytes"] + 2 * largest
    # By malloc, of which slow memory is not: in steps that follow the plan, what autograd holds is elsewhere.
    out = sum(row["bytes"] for row in told["plan"])
    freed = [plain - tried for plain, tried in zip(truth["held"], came["held"])]
    assert all(freed[step] > 0.5 * out for step in (5, 7, 9)), (freed, out)
    assert all(abs(freed[step]) < 0.5 * out for step in (4, 6, 8)), (freed, out)
    text = analyzed("--executed", trace.path)
    assert "Error: predicted over real time" in text and "emulated" in text


def test_figure_of_errors(tracer, tmp_path):
    pytest.importorskip("matplotlib")
    path, _, _ = planned(tracer, tmp_path, "mlp")
    _, trace = tracer.trace(harness.program("planned_steps", "mlp"), LOTUS_TRY=f"memory-plan={path}")
    analyzed("--executed", "--figures", tmp_path / "figures", trace.path)
    assert (tmp_path / "figures/memory-plan-error.svg").stat().st_size > 10_000
    (row,) = csv.DictReader((tmp_path / "figures/memory-plan-error.csv").open())
    assert float(row["predicted_s"]) > float(row["base_s"]) and row["label"]


def test_plan_of_another_program(tracer, tmp_path):
    """What does not match stays where it is, and is counted."""
    path, _, _ = planned(tracer, tmp_path, "attention")
    plain = harness.run(harness.program("planned_steps", "mlp"))
    outcome, trace = tracer.trace(harness.program("planned_steps", "mlp"), LOTUS_TRY=f"memory-plan={path}")
    assert outcome.code == 0
    for key in ("losses", "gradients"):
        assert json.loads(outcome.stdout)[key] == json.loads(plain.stdout)[key]
    (executed,) = json.loads(analyzed("--executed", "--json", trace.path))["executed"]
    assert executed["num_move_nodes"] < executed["num_planned_moves"]
    assert executed["error_percent"] is None
    assert "nothing is said of its error" in " ".join(analyzed("--executed", trace.path).split())


@pytest.mark.parametrize("content, words", [
    (None, "cannot be read (No such file or directory)"),
    ("{", "it is no JSON"),
    ("[]", "runs is missing, or is not a list"),
    ('{"runs": [], "plan": []}', "it has 0 plans of the mode offload"),
    ('{"runs": [{"mode": "offload"}], "plan": []}', "runs[0].num_move_nodes is missing, or is not a number"),
    ('{"runs": [{"mode": "offload"}], "plan": [{"run": 0, "moves": []}]}', "plan[0].moves has 0 moves in place of two"),
    ('{"runs": [{"mode": "offload"}], "plan": [{"run": 0, "moves": [{"seconds": 1}, {}]}]}',
     "plan[0].moves[1].seconds is missing"),
])
def test_file_that_is_no_plan(tracer, tmp_path, content, words):
    path = tmp_path / "plan.json"
    if content is not None:
        path.write_text(content)
    plain = harness.run(harness.program("planned_steps", "mlp"))
    outcome, trace = tracer.trace(harness.program("planned_steps", "mlp"), LOTUS_TRY=f"memory-plan={path}")
    assert outcome.code == 0
    assert json.loads(outcome.stdout)["gradients"] == json.loads(plain.stdout)["gradients"]
    said = outcome.stderr.decode()
    assert f"LOTUS_TRY=memory-plan={path} is refused" in said and words in said
    (tried,) = trace.named("tried")
    assert tried["settings"] == "memory-plan" and words in tried["refused"]
    refused = harness.run([harness.ANALYZE, "memory-plan", "--executed", trace.path])
    assert refused.code == 1 and b"no step followed a plan" in refused.stderr and words.encode() in refused.stderr
    report = harness.run([harness.ANALYZE, "report", trace.path]).stdout.decode()
    assert "LOTUS_TRY=memory-plan was refused" in report and words in " ".join(report.split())


def test_limit_below_what_cannot_move(tracer, tmp_path):
    _, trace = tracer.trace(harness.program("planned_steps", "mlp"), LOTUS_STEPS="all")
    outcome = harness.run([harness.ANALYZE, "memory-plan", "--mode", "offload", "--fast", "1MiB", trace.path])
    assert outcome.code == 1 and b"does not move" in outcome.stderr and b"planned_steps.py:" in outcome.stderr
    (size, *_) = re.search(r"move something: --fast (\w+)", " ".join(outcome.stderr.decode().split())).groups()
    (run,) = json.loads(analyzed("--mode", "offload", "--fast", size, "--json", trace.path))["runs"]
    assert run["num_move_nodes"] > 0


def test_plan_for_more_than_is_needed(tracer, tmp_path):
    _, trace = tracer.trace(harness.program("planned_steps", "mlp"), LOTUS_STEPS="all")
    assert "moves nothing" in analyzed("--mode", "offload", "--fast", "4GiB", trace.path)
    plan = tmp_path / "plan.json"
    plan.write_text(analyzed("--mode", "offload", "--fast", "4GiB", "--json", trace.path))
    _, trace = tracer.trace(harness.program("planned_steps", "mlp"), LOTUS_TRY=f"memory-plan={plan}")
    assert "the plan has no moves" in " ".join(analyzed("--executed", trace.path).split())


def test_plan_stands_alone(tracer):
    for text in ("memory-plan=plan.json,num_workers=2", "num_workers=2,memory-plan=plan.json"):
        outcome, _ = tracer.trace(harness.program("planned_steps", "mlp"), LOTUS_TRY=text)
        assert outcome.code == 0 and b"alone" in outcome.stderr, outcome.stderr


@pytest.mark.parametrize("step", [6, 7])
def test_what_pytorch_refuses_is_refused(tracer, tmp_path, step):
    """PyTorch leaves a check of what autograd saved out where there are hooks."""
    plan, _, _ = planned(tracer, tmp_path, "mlp")
    command = harness.program("changed_in_place", step)
    plain = harness.run(command)
    assert plain.stdout.decode().startswith(f"{step} one of the variables needed for gradient computation")
    outcome, _ = tracer.run(command, LOTUS_TRY=f"memory-plan={plan}")
    told = outcome.stdout.decode()
    assert outcome.code == 0 and told.startswith(f"{step} ")
    assert "one of the variables needed for gradient computation" in told  # a hook's error says its type, too
