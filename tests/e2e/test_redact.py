"""Private names in a trace are gone in a redacted copy."""
import pytest

import harness

SECRET = "s3cret"


@pytest.fixture(scope="module")
def trace(tmp_path_factory, tracers):
    """The trace of a program whose files, directory, command line and environment contain SECRET."""
    place = tmp_path_factory.mktemp("redact") / SECRET
    place.mkdir()
    for number in range(8):
        (place / f"{SECRET}{number}.txt").write_text("1\n" * 100)
    tracer = harness.Tracer(place)
    tracers.append(tracer)
    script = place / f"{SECRET}.py"
    script.write_bytes((harness.PROGRAMS / "pure.py").read_bytes())
    command = ["env", f"PYTHONPATH={harness.FAKE_TORCH}:{harness.PROGRAMS}", harness.PYTHON, script, "--data", place,
               "--epochs", "1"]
    outcome, made = tracer.trace(command, S3CRET_NAME="v4lue-of-environment", PASSWORD="v4lue-of-environment")
    assert outcome.code == 0
    return made


def everything(path):
    """All records as text."""
    outcome = harness.run([harness.ANALYZE, "dump", path])
    assert outcome.code == 0
    return outcome.stdout.decode() + harness.run([harness.ANALYZE, "info", path]).stdout.decode()


def test_environment_is_never_stored(trace):
    text = everything(trace.path)
    assert "v4lue" not in text and "S3CRET_NAME" not in text and "PASSWORD" not in text
    assert SECRET in text  # the search finds it in the unredacted trace


def test_redacted_copy(trace, tmp_path):
    copy = tmp_path / "copy.lotus"
    outcome = harness.run([harness.ANALYZE, "redact", trace.path, "-o", copy], XDG_CONFIG_HOME=tmp_path)
    assert outcome.code == 0, outcome.stderr
    text = everything(copy).replace(str(copy), "")
    assert SECRET not in text and "v4lue" not in text
    redacted = harness.Trace(copy)
    assert redacted.report["trace"]["events"] == trace.report["trace"]["events"]
    assert {op["name"]: op["count"] for op in redacted.report["ops"]} == {
        op["name"]: op["count"] for op in trace.report["ops"]}
    assert all(sample["path"].endswith(".txt") for sample in redacted.report["slow_samples"])
    again = tmp_path / "again.lotus"
    harness.run([harness.ANALYZE, "redact", trace.path, "-o", again], XDG_CONFIG_HOME=tmp_path)
    assert again.read_bytes() == copy.read_bytes()


def test_recover_by_command(trace, tmp_path):
    damaged = tmp_path / "run.lotus"
    content = trace.path.read_bytes()
    damaged.write_bytes(bytes(64) + content[64:-200])
    refused = harness.run([harness.ANALYZE, "report", damaged])
    assert refused.code == 1 and b"recover" in refused.stderr
    outcome = harness.run([harness.ANALYZE, "recover", damaged])
    assert outcome.code == 0 and b"made anew: file header" in outcome.stdout, outcome
    recovered = harness.Trace(tmp_path / "run.recovered.lotus")
    assert recovered.report["trace"]["events"] == trace.report["trace"]["events"]
    assert recovered.report["trace"]["truncated"] is False
    assert harness.run([harness.ANALYZE, "recover", damaged]).code == 2  # the file exists
    assert harness.run([harness.ANALYZE, "recover", "--force", damaged]).code == 0
    assert harness.run([harness.ANALYZE, "recover", damaged, "-o", damaged]).code == 2
