"""torch.compile: same results, batches traced before and after compilation, beside other tools."""
import pytest

import checks
import harness

TRY = """
import torch
def f(x): return x * 2 + 1
torch.compile(f, backend={!r})(torch.ones(3))
"""


@pytest.fixture(scope="module")
def compiles(tmp_path_factory):
    """compiles(backend): None, or the reason why it does not compile even without the tracer."""
    known = {}

    def ask(backend):
        if backend not in known:
            directory = tmp_path_factory.mktemp("inductor")
            answer = harness.run([harness.PYTHON, "-c", TRY.format(backend)], timeout=300,
                                 TORCHINDUCTOR_CACHE_DIR=directory)
            lines = answer.stderr.decode().splitlines()
            known[backend] = None if answer.code == 0 else f"torch.compile with {backend}: {lines[-1][:150]}"
        return known[backend]

    return ask


@pytest.mark.parametrize("case", ["eager", "aot_eager", "inductor", "spawn"])
def test_compiled_training(case, compiles, pair, tmp_path_factory):
    backend = "aot_eager" if case == "spawn" else case
    if reason := compiles(backend):
        pytest.skip(reason)
    options = ["--backend", backend, *(["--start-method", "spawn"] if case == "spawn" else [])]
    directory = tmp_path_factory.mktemp("inductor")  # or the traced run would reuse code of the bare one
    run = pair(case, harness.program("compiled", *options), timeout=300, TORCHINDUCTOR_CACHE_DIR=directory,
               TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
    assert run.bare.code == 0, run.bare.stderr.decode()
    assert b"compiled graphs: 1" in run.bare.stdout
    checks.same(run)
    checks.whole(run)
    checks.ops(run)
    checks.batches(run)
    checks.summary(run)


@pytest.mark.parametrize("tool", ["coverage", "settrace", "monitoring"])
def test_beside_another_tool(tool, compiles, pair):
    if reason := compiles("eager"):
        pytest.skip(reason)
    if tool == "coverage" and (reason := harness.lacks("coverage")):
        pytest.skip(reason)
    if tool == "monitoring" and b"True" not in harness.run(
            [harness.PYTHON, "-c", "import sys; print(hasattr(sys, 'monitoring'))"]).stdout:
        pytest.skip("this Python has no sys.monitoring")
    run = pair(tool, harness.program("compiled", "--tool", tool))
    assert b"tool saw us: True" in run.bare.stdout, run.bare.stderr.decode()
    assert run.traced.visible == run.bare.visible
    checks.whole(run)
    checks.batches(run)
