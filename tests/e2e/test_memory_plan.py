"""lotus-analyze memory-plan as a program: its figures, and a solver that is interrupted."""
import csv
import json
import os
import shutil
import signal
import subprocess

import pytest

import harness

MODEL = "This is a model of memory that this machine may not have."


def chain(layers):
    """Steps of a chain of layers, forward and backward: each activation waits for its backward."""
    storages, operators = [], []
    for layer in range(layers):
        storages.append({"bytes": 3_000_000, "born": layer, "released": 2 * layers - layer})
        reads = [{"storage": layer - 1, "read": True}] if layer else []
        operators.append({"name": f"forward{layer}", "seconds": 0.002, "operands": [*reads, {"storage": layer, "written": True}]})
    for layer in reversed(range(layers)):
        operators.append({"name": f"backward{layer}", "seconds": 0.002, "phase": "backward",
                          "operands": [{"storage": layer, "read": True}]})
    return {"steps": [{"operators": operators, "storages": storages}]}


@pytest.fixture
def steps(tmp_path):
    path = tmp_path / "steps.json"
    path.write_text(json.dumps(chain(20)))
    return path


def plan(*arguments, **environment):
    return harness.run([harness.ANALYZE, "memory-plan", *arguments], **environment)


def test_figures(steps, tmp_path):
    pytest.importorskip("matplotlib")
    figures = tmp_path / "figures"
    outcome = plan("--steps", steps, "--figures", figures)
    assert outcome.code == 0, outcome.stderr
    for name in ("speedup", "cost", "limit"):
        assert (figures / f"memory-plan-{name}.svg").stat().st_size > 10_000
        assert (figures / f"memory-plan-{name}.png").stat().st_size > 10_000
        rows = list(csv.DictReader((figures / f"memory-plan-{name}.csv").open()))
        assert {row["mode"] for row in rows} == {"numa", "greedy", "static", "synchronous"}
        assert all(row["note"].startswith(MODEL) for row in rows)
    times = [float(row["slowdown"]) for row in rows if row["mode"] == "synchronous"]
    assert len(times) > 10 and times == sorted(times, reverse=True)
    again = plan("--steps", steps, "--figures", figures)
    assert again.code == 2 and b"exists" in again.stderr
    assert plan("--steps", steps, "--figures", figures, "--force").code == 0


@pytest.mark.parametrize("model", ["cnn", "attention"])
def test_of_a_trace(tracer, model):
    outcome, trace = tracer.trace(harness.program("memory_steps", model, "Adam"), LOTUS_STEPS="all")
    assert outcome.code == 0, outcome.stderr
    told = plan("--json", "--below-floor", "--fast", "0:1,2:3,1:1", trace.path)
    assert told.code == 0, told.stderr
    told = json.loads(told.stdout)
    assert told["step"]["alike"] >= 3 and told["step"]["operators"] > 30
    memory = json.loads(harness.run([harness.ANALYZE, "memory", "--json", "--step", str(told["step"]["number"]), trace.path]).stdout)
    assert told["floor_bytes"] == memory["floor_bytes"]
    assert told["floor_operator"]["file"].endswith("memory_steps.py")
    assert told["all_fast_s"] < told["all_slow_s"]
    for run in told["runs"]:
        assert run["fast_peak_bytes"] <= run["fast_limit_bytes"]
        assert told["all_fast_s"] <= run["predicted_runtime_s"] <= told["all_slow_s"] or run["mode"] == "greedy"
    assert any(row["file"] and row["file"].endswith("memory_steps.py") for row in told["plan"])
    # Who made it, as `memory` says: an operator at the line of the storage, or none, as of what the loader made.
    assert all(row["producer"]["line"] == row["line"] for row in told["plan"] if row["producer"])
    by_loader = {group["line"] for group in memory["alive_at_peak"] if group["role"] == "batch"}
    of_loader = [row for row in told["plan"] if row["line"] in by_loader and not row["older"]]
    assert by_loader and of_loader and all(row["producer"] is None for row in of_loader)


def test_trace_without_steps(tracer):
    _, trace = tracer.trace(harness.program("memory_steps", "mlp", "SGD"), LOTUS_STEPS="0")
    outcome = plan(trace.path)
    assert outcome.code == 1 and b"LOTUS_STEPS" in outcome.stderr


def test_interrupted_solver_leaves_nothing(steps, tmp_path):
    """The solver ends with lotus-analyze, and the directory of its files is gone."""
    programs, temporary = tmp_path / "bin", tmp_path / "tmp"
    programs.mkdir()
    temporary.mkdir()
    solver = programs / "cbc"
    solver.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 600\n")
    solver.chmod(0o755)
    process = subprocess.Popen([harness.ANALYZE, "memory-plan", "--steps", steps, "--fast", "4:1", "--solver", "cbc"],
                               env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(temporary)},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        pid = int(harness.wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "the solver"))
        assert len(list(temporary.iterdir())) == 1
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == -signal.SIGINT
        assert list(temporary.iterdir()) == []
        harness.wait_until(lambda: not os.path.exists(f"/proc/{pid}") or "Z" in open(f"/proc/{pid}/stat").read().split()[2],
                           "the solver's end")
    finally:
        process.kill()
        process.wait()


def test_no_solver_in_path(steps, tmp_path):
    """Without other solvers, all is built in; and what was asked for and is missing is said with its remedy."""
    programs = tmp_path / "bin"
    programs.mkdir()
    outcome = plan("--steps", steps, "--fast", "4:1", "--json", PATH=str(programs))
    assert outcome.code == 0, outcome.stderr
    assert {run["solver"] for run in json.loads(outcome.stdout)["runs"]} == {None, "builtin"}
    missing = plan("--steps", steps, "--fast", "4:1", "--solver", "highs", PATH=str(programs))
    assert missing.code == 2 and b"highs" in missing.stderr and b"--solver builtin" in missing.stderr


@pytest.mark.skipif(shutil.which("cbc") is None, reason="coinor-cbc is not installed")
def test_cbc_in_path(steps):
    outcome = plan("--steps", steps, "--fast", "4:1", "--solver", "cbc", "--json")
    runs = json.loads(outcome.stdout)["runs"]
    assert {run["mode"]: run["solver"] for run in runs if run["solver"]} == {"static": "cbc", "synchronous": "cbc"}
    assert all(run["note"] is None and run["status"] != "feasible" for run in runs)
