"""Pipelines of other libraries are recognised by the same rules: operations, batches, results."""
import statistics

import pytest

import checks
import harness

# For each module of tests/programs/stacks: its imports and its operations.
STACKS = {
    "albumentations": (["albumentations", "cv2"], ["HorizontalFlip", "RandomBrightnessContrast", "Normalize", "ToTensorV2"]),
    "timm": (["timm", "torchvision"], ["RandomResizedCropAndInterpolation", "RandomHorizontalFlip", "ColorJitter",
                                       "MaybeToTensor", "Normalize"]),
    "shards": (["PIL", "numpy"], ["decode", "augment"]),
    "datasets": (["datasets"], ["tokenize"]),
    "rows": (["torch"], ["tokenize"]),
    "dictionary": (["PIL", "numpy"], ["LoadImaged", "ScaleIntensityd", "RandFlipd", "ToTensord"]),
    "sound": (["numpy"], ["read", "Spectrogram", "Decibels"]),
    "text": (["torch"], ["normalize", "Tokenizer", "Cut", "Collation"]),
}


@pytest.mark.parametrize("stack", sorted(STACKS))
def test_stack(stack, pair, photos):
    modules, ops = STACKS[stack]
    if reason := harness.lacks(*modules):
        pytest.skip(reason)
    # Forked, because some contain lambdas, which cannot be pickled.
    run = pair(stack, harness.program("other_stacks", "--stack", stack, "--start-method", "fork", data=photos))
    assert run.bare.code == 0, run.bare.stderr.decode()
    checks.same(run)
    checks.whole(run)
    assert sorted(run.truth.ops) == sorted(ops)
    for name, truth, off in checks.compared(run):
        # Other tests compare all calls; this one the least disturbed quarter.
        least = sorted(abs(ns) for ns in off)[len(off) // 4]
        allowed = max(checks.SHARE * statistics.median(call.ns for call in truth), 2 * checks.CALL_NS)
        checks.agree(least <= allowed, name, least)
    assert run.trace.report["batches"]["count"] == len(run.truth.fetches)
    assert len([row for row in run.trace.batches if row["consumed_at_ns"] is not None]) == len(run.truth.consumed) == 8
