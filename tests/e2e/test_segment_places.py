"""Variables with relative directories: a collector in another working directory still finds the segments."""
import os
import pathlib

import pytest

import harness

# In this mount namespace, /dev/shm is unusable and the user's directory in /tmp is empty.
ELSEWHERE = """
mount -t tmpfs tmpfs /dev/shm && touch "/dev/shm/lotus-$(id -u)" &&
mount -t tmpfs -o mode=0700 tmpfs "/tmp/lotus-$(id -u)" || exit 99
collector=$1
shift
"$@" && cd / && exec "$collector" --drain"""


@pytest.fixture
def mount_point():
    path = pathlib.Path(f"/tmp/lotus-{os.getuid()}")
    made = not path.exists()
    path.mkdir(mode=0o700, exist_ok=True)
    yield path
    if made:
        path.rmdir()


@pytest.mark.parametrize("variable", ["XDG_RUNTIME_DIR", "TMPDIR"])
def test_relative_directory(variable, texts, tracer, mount_point):
    if why := harness.cannot_unshare("-m"):
        pytest.skip(why)
    working = tracer.directory / "working"
    (working / "relative").mkdir(parents=True)
    command = harness.pure_program("--epochs", "1", data=texts)
    outcome, trace = tracer.run(["unshare", "-m", "sh", "-c", ELSEWHERE, "sh", harness.COLLECTOR, *command], cwd=working,
                                LOTUS_DIR=None, LOTUS_AUTOSTART=0, HOME=tracer.directory, **{variable: "relative"})
    assert outcome.code == 0, outcome.stderr.decode()
    assert harness.Trace(trace).report["batches"]["count"] == 10
    assert list((working / "relative").iterdir()) == []
