"""The Debian package: what is in it, and that it works from where it is unpacked."""
import os
import shutil
import subprocess

import pytest

import harness

pytestmark = pytest.mark.skipif(not (shutil.which("cpack") and shutil.which("dpkg-deb")), reason="no cpack or no dpkg-deb here")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    directory = tmp_path_factory.mktemp("deb")
    made = harness.run(["cpack", "-G", "DEB", "--config", harness.BUILD / "CPackConfig.cmake", "-B", directory], cwd=directory)
    assert made.code == 0, made.stderr.decode()
    (path,) = directory.glob("*.deb")
    return path


@pytest.fixture(scope="module")
def unpacked(package, tmp_path_factory):
    directory = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["dpkg-deb", "-x", package, directory], check=True)
    return directory / "usr"


def test_it_depends_on_nothing(package):
    fields = subprocess.run(["dpkg-deb", "-f", package], capture_output=True, text=True, check=True).stdout
    assert "Package: lotus-trace\n" in fields and "Depends:" not in fields
    assert "Architecture: amd64\n" in fields and "Recommends: python3 (>= 3.9)\n" in fields


def test_commands_and_the_library_lie_where_others_look(unpacked, tracer, texts):
    trace = tracer.directory / "x.lotus"
    library, = (unpacked / "lib").rglob("*-linux-gnu/liblotus.so")
    for name in ("lotus-analyze", "lotus-collector"):
        assert harness.run([unpacked / "bin" / name, "--version"]).stdout.startswith(name.encode())
    # Its own collector is found from the link that the loader knows.
    plain = harness.run(harness.pure_program(data=texts), LD_PRELOAD=library, LOTUS_DIR=tracer.segments, LOTUS_OUTPUT=trace)
    assert plain.code == 0
    harness.wait_until(lambda: harness.is_complete(trace), "the collector of the package")
    told = harness.run([harness.PYTHON, unpacked / "bin/lotus", "run", "--output", tracer.directory / "y.lotus", "--",
                        *harness.pure_program(data=texts)], LOTUS_DIR=tracer.segments)
    assert told.code == 0 and told.stdout == plain.stdout and b"The whole report: lotus report" in told.stderr
    assert [path for path in unpacked.rglob("__pycache__")] == []
    assert os.access(unpacked / "bin/lotus", os.X_OK)
