"""Training on a GPU: same losses, pinned batches, and waits for the GPU that count as training's own time."""
import pytest

import checks
import harness

CASES = {"plain": [], "spawn": ["--start-method", "spawn"], "compiled": ["--case", "compiled"],
         "profiled": ["--case", "profiled"]}
OFTEN = {"LOTUS_SAMPLE_HZ": 4999, "LOTUS_SAMPLE_CLOCK": "perf"}


@pytest.fixture(scope="module", autouse=True)
def gpu():
    told = harness.run([harness.PYTHON, "-c", "import torch; print(torch.cuda.is_available())"]).stdout
    if told.strip() != b"True":
        pytest.skip("no GPU that PyTorch can use")


@pytest.fixture(params=[*CASES, "often"])
def run(request, pair, photos):
    command = harness.program("cuda_train", *CASES.get(request.param, []), data=photos)
    more = OFTEN if request.param == "often" else {}
    # A directory for each run, or the traced run would reuse code of the bare one.
    return pair(request.param, command, timeout=300, CUBLAS_WORKSPACE_CONFIG=":4096:8",
                TORCHINDUCTOR_FORCE_DISABLE_CACHES="1", **more)


def test_same_with_and_without(run):
    assert run.bare.code == 0, run.bare.stderr.decode()
    checks.same(run)
    checks.whole(run)


def test_batches(run):
    checks.batches(run)
    checks.summary(run)


def test_pinning(run):
    checks.pinning(run)
    checks.transfer(run)


def test_waits_for_the_gpu_are_part_of_the_step(run):
    """Waits for the GPU are part of the training step, not waits for data."""
    waited = sum(call.ns for call in run.truth.synchronized) / 1e9
    stepped = run.trace.report["train_step_ms"]["mean"] / 1e3 * len(run.truth.consumed)
    assert stepped >= waited > 0
