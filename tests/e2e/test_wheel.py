"""The wheel: what is in it, and that it works where nothing else is installed."""
import os
import re
import subprocess
import zipfile

import pytest

import harness

TREE = harness.BUILD / "wheel"
PROGRAMS = ["lotus-analyze", "lotus-collector"]
MOST_MB = 12


def make_wheel(directory):
    """Packs this build's tree; returns the wheel's path."""
    made = harness.run([harness.SOURCE / "tools/wheel", "--built", harness.BUILD, "--to", directory],
                       LOTUS_PYTHON=harness.PYTHON)
    assert made.code == 0, made.stderr.decode()
    (path,) = directory.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this build, made by tools/wheel."""
    directory = tmp_path_factory.mktemp("wheel")
    for module in ("pip", "venv"):
        if reason := harness.lacks(module):
            pytest.skip(reason)
    backend = harness.run([harness.PYTHON, "-m", "pip", "download", "--quiet", "--no-deps", "--retries", "1", "--dest",
                           directory / "index", "scikit-build-core>=0.11"])
    if backend.code != 0:
        pytest.skip(f"pip cannot reach its index: {backend.stderr.decode().strip().splitlines()[-1]}")
    return make_wheel(directory)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A fresh environment with the wheel, without a network; the Python's own torch is there."""
    directory = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([harness.PYTHON, "-m", "venv", "--system-site-packages", directory], check=True)
    outcome = harness.run([directory / "bin/pip", "install", "--quiet", "--no-index", wheel])
    assert outcome.code == 0, outcome.stderr.decode()
    return directory


def test_name_size_and_contents(wheel):
    assert re.fullmatch(r"lotus_trace-\d+\.\d+\.\d+-py3-none-manylinux2014_x86_64\.whl", wheel.name)
    assert wheel.stat().st_size <= MOST_MB * 1_000_000
    with zipfile.ZipFile(wheel) as file:
        entries = {entry.filename: entry for entry in file.infolist()}
        metadata = next(file.read(name).decode() for name in entries if name.endswith("/METADATA"))
    for name in ("bin/lotus-analyze", "bin/lotus-collector"):
        assert entries[f"lotus_trace/{name}"].external_attr >> 16 & 0o111
    for name in ("lib/liblotus.so", "share/lotus/figures/draw.py", "licences/lotus", "licences/d3", "__main__.py"):
        assert f"lotus_trace/{name}" in entries
    assert {"lotus-analyze.1", "lotus-collector.1", "lotus-json.5"} <= {os.path.basename(name) for name in entries}
    assert "Requires-Dist" not in metadata and "License-Expression: Apache-2.0" in metadata


def test_the_same_tree_gives_the_same_wheel(wheel, tmp_path):
    assert make_wheel(tmp_path).read_bytes() == wheel.read_bytes()


def test_licences_of_all_that_is_linked(wheel):
    """By the packages that the build needs: a library that is added there needs a notice here, too."""
    words = (harness.SOURCE / "tools/packages").read_text()
    build = re.search(r"PACKAGES_BUILD=\((.*?)\)", words, re.DOTALL).group(1).split()
    linked = [name for name in build if name.endswith("-dev")]
    with zipfile.ZipFile(wheel) as file:
        notices = {os.path.basename(name) for name in file.namelist() if name.startswith("lotus_trace/licences/")}
    assert len(linked) > 10 and set(linked) | {"libc6-dev", "libstdc++-12-dev"} <= notices


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_need_no_libc(name, tmp_path):
    """In a root directory with nothing else in it, as with any libc, musl among them."""
    program = TREE / "lotus_trace/bin" / name
    assert "INTERP" not in subprocess.run(["readelf", "-l", program], capture_output=True, text=True, check=True).stdout
    if os.geteuid() != 0:
        return
    (tmp_path / name).write_bytes(program.read_bytes())
    (tmp_path / name).chmod(0o755)
    told = harness.run(["chroot", tmp_path, f"/{name}", "--version"])
    assert (told.code, told.stdout) == (0, harness.run([program, "--version"]).stdout)


def test_installed_commands_trace_a_training(installed, tracer):
    if reason := harness.lacks("torch"):
        pytest.skip(reason)
    trace = tracer.directory / "x.lotus"
    told = harness.run([installed / "bin/lotus", "run", "--output", trace, "--", installed / "bin/python",
                        harness.SOURCE / "examples/text.py", "--documents", "64"], cwd=tracer.directory, LOTUS_DIR=tracer.segments)
    assert told.code == 0, told.stderr.decode()
    assert b"epoch 1: loss" in told.stdout and b"Training is " in told.stderr
    assert harness.is_complete(trace)
    assert {"Tokenize", "Encode", "Crop"} <= set(harness.Trace(trace).ops())
    assert harness.run([installed / "bin/lotus-analyze", "info", trace]).code == 0
    assert harness.run([installed / "bin/lotus-collector", "--version"]).stdout.startswith(b"lotus-collector ")


def test_uninstalling_leaves_nothing(installed):
    """The last test: the environment is of no use afterwards."""
    assert harness.run([installed / "bin/pip", "uninstall", "--quiet", "--yes", "lotus-trace"]).code == 0
    assert [path for path in installed.rglob("*") if "lotus" in path.name] == []
