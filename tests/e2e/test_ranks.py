"""Data-parallel training with two ranks: one trace, and the report names the rank that delays the other."""
import json

import pytest

import harness

WORKERS = 2


@pytest.fixture(scope="module", autouse=True)
def gloo():
    code = "from torch import distributed; print(hasattr(distributed, 'ProcessGroupGloo'))"
    if harness.run([harness.PYTHON, "-c", code]).stdout != b"True\n":
        pytest.skip("this PyTorch has no gloo")


class Run:
    def __init__(self, tracer, command):
        plain_store = {"USE_LIBUV": "0"}  # Debian's PyTorch is built without libuv
        self.bare = harness.run(command, **plain_store)
        if b"torch/distributed/run.py" in self.bare.stderr and b"in to_map" in self.bare.stderr:
            pytest.skip("torchrun of this PyTorch does not run on this Python")
        if b"use_libuv was requested but PyTorch was buil" in self.bare.stderr:
            pytest.skip("torchrun of this PyTorch asks for libuv, without which it was built")
        self.traced, self.trace = tracer.trace(command, **plain_store)
        self.directory = tracer.directory

    def by_rank(self, *options):
        return harness.run([harness.ANALYZE, "report", "--by-rank", *options, self.trace.path])


LAUNCHERS = {
    "torchrun": [harness.PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"],
    "environment": [harness.PYTHON, harness.PROGRAMS / "launch.py", "2"],
}


def launched(launcher, *options):
    program = harness.program("ranks", "--workers", WORKERS, *options)
    if launcher == "own":
        return [*program, "--launch", "2"]
    return [*LAUNCHERS[launcher], *program[1:]]


@pytest.fixture(scope="module", params=["torchrun", "environment", "own"])
def run(request, tmp_path_factory, tracers):
    tracer = harness.Tracer(tmp_path_factory.mktemp(request.param))
    tracers.append(tracer)
    return Run(tracer, launched(request.param, "--slow", "1"))


def test_same_results(run):
    assert run.bare.code == 0, run.bare.stderr.decode()
    assert b"epoch 0 loss" in run.bare.stdout
    assert run.traced.code == 0, run.traced.stderr.decode()
    assert run.traced.stdout == run.bare.stdout


def test_one_trace_of_all(run):
    assert run.traced.lotus_lines == [f"lotus: tracing to {run.trace.path}"]
    assert [path.name for path in run.directory.glob("*.lotus*")] == [run.trace.path.name]
    assert run.trace.report["trace"]["lost_events"] == 0
    assert run.trace.report["trace"]["workers"] == 2 * WORKERS


def test_processes_know_their_rank(run):
    ranks = sorted(process["rank"] for process in run.trace.info["processes"])
    assert ranks == sorted([0, 1] * (1 + WORKERS))


def test_the_slow_rank_is_named(run):
    answer = run.by_rank("--json")
    assert answer.code == 0, answer.stderr
    report = json.loads(answer.stdout)
    assert report["world_size"] == 2
    assert [rank["rank"] for rank in report["ranks"]] == [0, 1]
    assert [rank["batches"] for rank in report["ranks"]] == [8, 8]
    assert [rank["workers"] for rank in report["ranks"]] == [WORKERS, WORKERS]
    assert report["straggler"]["rank"] == 1
    assert report["straggler"]["op"]["name"] == "Read"
    assert report["straggler"]["op"]["mean_ms"] >= 150
    text = run.by_rank().stdout.decode()
    assert report["message"] in " ".join(text.split())
    assert "Rank 1 holds the others up" in text and "Read takes" in text


def test_tables_fit(run):
    for columns in (80, 200):
        lines = harness.run([harness.ANALYZE, "report", "--by-rank", run.trace.path],
                            COLUMNS=columns).stdout.decode().splitlines()
        assert max(map(len, lines)) <= columns


def test_ranks_that_spawn_their_workers(tracer):
    run = Run(tracer, launched("environment", "--slow", "0", "--start-method", "spawn"))
    test_same_results(run)
    test_one_trace_of_all(run)
    test_processes_know_their_rank(run)
    assert json.loads(run.by_rank("--json").stdout)["straggler"]["rank"] == 0


def test_a_trace_without_ranks(tracer):
    _, trace = tracer.trace(harness.program("loaders"))
    answer = harness.run([harness.ANALYZE, "report", "--by-rank", trace.path])
    assert answer.code == 1 and b"belongs to a rank" in answer.stderr
    assert trace.info["processes"][0]["rank"] is None
