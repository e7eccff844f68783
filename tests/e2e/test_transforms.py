"""Operations of every kind of callable, called by every kind of runner."""
import pytest

import checks
import harness

KINDS = {"lambda": "transform.<locals>.<lambda>"}
RUNNERS = {
    "torchvision_v2": ["Resize", "Invert", "ToTensor"],
    "albumentations": ["Transpose", "Brightness", "ToTensorV2"],
    "monai": ["EnsureChannelFirst", "ScaleIntensity", "EnsureType"],
}


def test_kinds_of_callables(pair, photos):
    run = pair("kinds", harness.program("kinds", "--start-method", "fork", data=photos))
    inside = ["Loader", "Shift", "Scale", "Collation"]  # these time themselves
    checks.everything(run, names=inside)
    checks.ops_from_outside(run, [name for name in run.truth.ops if name not in inside], KINDS)
    checks.only_ops(run, [KINDS.get(name, name) for name in run.truth.ops])


def test_operations_nest(pair, photos):
    """RandomApply, RandomChoice and Sequential contain Shift and Scale; their own time excludes these."""
    run = pair("kinds", harness.program("kinds", "--start-method", "fork", data=photos))
    table = run.trace.ops()
    outer = sum(table[name]["total_s"] for name in ("RandomApply", "RandomChoice", "Sequential"))
    own = sum(table[name]["self_s"] for name in ("RandomApply", "RandomChoice", "Sequential"))
    inner = sum(table[name]["total_s"] for name in ("Shift", "Scale"))
    assert abs(outer - own - inner) < 0.01 * outer
    assert sum(op["share_percent"] for op in table.values()) <= 100.1


@pytest.mark.parametrize("style", sorted(RUNNERS))
def test_runners(style, pair, photos):
    run = pair(style, harness.program("runner", "--style", style, "--start-method", "fork", data=photos))
    checks.everything(run)
    assert set(run.trace.ops()) >= {*RUNNERS[style], "Loader", "Collation"}
    assert not set(run.trace.ops()) & {"Compose", "apply_transform", "BasicTransform", "apply_with_params"}


def test_plain_list_of_callables(pair, photos):
    run = pair("plain_list", harness.program("plain_list", data=photos))
    checks.everything(run)
    checks.only_ops(run, run.truth.ops)
