"""The scripts in examples/ run under the tracer, and the report finds the operations that examples/README.md names."""
import pytest

import harness

EXAMPLES = {
    "images": (["--images", 64], ["Loader", "RandomResizedCrop", "Normalize", "Collation"]),
    "text": (["--documents", 64], ["Tokenize", "Encode", "Crop", "Collation"]),
    "stream": ([], ["synthesize", "downsample", "Collation"]),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_report_of_the_example(name, tracer):
    options, operations = EXAMPLES[name]
    if reason := harness.lacks("torch", *(["torchvision"] if name == "images" else [])):
        pytest.skip(reason)
    outcome, trace = tracer.trace([harness.PYTHON, harness.SOURCE / f"examples/{name}.py", *options])
    assert outcome.code == 0, outcome.stderr.decode()
    assert trace.report["trace"]["lost_events"] == 0
    assert set(operations) <= trace.ops().keys()


def test_every_example_is_tested():
    assert {path.stem for path in (harness.SOURCE / "examples").glob("*.py")} == EXAMPLES.keys()
