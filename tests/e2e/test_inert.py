"""liblotus.so in processes without a data loader: same output, and no files."""
import re
import shutil

import pytest

import harness

C_PROGRAM = 'int main(void) { return 7; }\n'

COMMANDS = {
    "bash": ["bash", "-c", "echo one; ls / | head -3; exit 5"],
    "ls": ["ls", "-l", "/usr"],
    "sort": ["sort", "-r", "/etc/passwd"],
    "cmake": ["cmake", "--version"],
    "busybox": ["busybox", "sh", "-c", "busybox seq 3 | busybox sort -r; exit 4"],
    "pip": [harness.PYTHON, "-m", "pip", "--version"],
    "web server": harness.program("web"),
    "notebook": harness.program("notebook"),
    "flask": harness.program("flask_server"),
    "python": [harness.PYTHON, "-c", "import json, os, subprocess, sys; print(sys.version);"
               " print(subprocess.run(['true']).returncode); os.fork() or os._exit(0); os.wait(); sys.exit(9)"],
    "python in development mode": [harness.PYTHON, "-X", "dev", "-c", "import os, sys; sys.addaudithook(lambda *_: None);"
                                   " os.fork() or sys.exit(0); os.wait(); print(sys.flags.dev_mode)"],
    "python that names torch": [harness.PYTHON, "-c", "torch = 1; print('import torch')"],
    "python without torch": [harness.PYTHON, "-S", "-c", "import sys; sys.path[:] = []\n"
                             "try:\n  import torch\nexcept ImportError as error:\n  print(error)"],
}


NEEDS = {"pip": ["pip"], "notebook": ["jupyter_client", "ipykernel"], "flask": ["flask"]}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_same_output_and_nothing_made(name, tracer):
    if shutil.which(COMMANDS[name][0]) is None:
        pytest.skip(f"no {COMMANDS[name][0]} here")
    if reason := harness.lacks(*NEEDS.get(name, [])):
        pytest.skip(reason)
    bare = harness.run(COMMANDS[name])
    traced = harness.run(COMMANDS[name], cwd=tracer.directory, **tracer.environment())
    assert (bare.code, bare.stdout, bare.stderr) == (traced.code, traced.stdout, traced.stderr)
    assert list(tracer.directory.iterdir()) == tracer.left() == []


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")
def test_compiler_and_its_children(tracer, tmp_path_factory):
    directory = tmp_path_factory.mktemp("c")
    (directory / "seven.c").write_text(C_PROGRAM)
    compiled = harness.run(["gcc", "-o", "seven", "seven.c"], cwd=directory, **tracer.environment())
    assert (compiled.code, compiled.stdout, compiled.stderr) == (0, b"", b"")
    assert harness.run([directory / "seven"], **tracer.environment()).code == 7
    assert list(tracer.directory.iterdir()) == tracer.left() == []


def test_test_runner(tracer, tmp_path):
    """pytest, with a failing test."""
    if reason := harness.lacks("pytest"):
        pytest.skip(reason)
    tests = tmp_path / "test_numbers.py"
    tests.write_text("import pytest\n@pytest.mark.parametrize('n', range(9))\ndef test(n): assert n % 5 != 4\n")
    command = [harness.PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]

    def told(outcome):
        return outcome.code, re.sub(rb" in [0-9.]+s", b"", outcome.stdout), outcome.stderr

    bare = harness.run(command)
    assert bare.code == 1 and b"1 failed, 8 passed" in bare.stdout
    traced_in = tracer.directory / "traced"
    traced_in.mkdir()
    assert told(harness.run(command, cwd=traced_in, **tracer.environment())) == told(harness.run(command, cwd=traced_in))
    assert list(traced_in.iterdir()) == tracer.left() == []


NO_BATCH = ["lotus: no batch was seen, so there is no trace: looked for PyTorch's DataLoader, its subclasses and copies, "
            "for iterators of installed packages that give tensors, and for the program's own that give tensors of two dimensions "
            "or more, between which an optimizer of PyTorch's steps"]
PARENT = "import subprocess, sys, torch; subprocess.run(sys.argv[1:], check=True)"


def test_importing_torch_alone_makes_no_trace_and_says_so(tracer):
    command = [harness.PYTHON, "-c", "import torch; print(torch.ones(3).sum())"]
    bare = harness.run(command)
    traced = harness.run(command, cwd=tracer.directory, **tracer.environment())
    assert bare.visible == traced.visible
    assert traced.lotus_lines == NO_BATCH
    assert list(tracer.directory.iterdir()) == tracer.left() == []


def test_what_others_do_is_not_told(tracer):
    """A launcher sees no batch itself; the program that it starts says where the trace goes."""
    program = harness.program("batched_rows", "rows")
    outcome, trace = tracer.trace([harness.PYTHON, "-c", PARENT, *program])
    assert outcome.code == 0 and outcome.lotus_lines == [f"lotus: tracing to {trace.path}"]


def test_one_line_a_program_and_not_one_a_process(tracer):
    """What a program of Python starts says nothing: it has its own line, if any."""
    starts = "import subprocess, sys; [subprocess.run(sys.argv[1:], check=True) for _ in range(2)]"
    outcome, _ = tracer.run([harness.PYTHON, "-c", starts, harness.PYTHON, "-c", "import torch"])
    assert outcome.code == 0 and outcome.lotus_lines == []


def test_off_by_environment(tracer, photos):
    command = harness.program("classify", "--workers", "1", data=photos)
    bare = harness.run(command)
    traced, trace = tracer.run(command, LOTUS_OFF="1", cwd=tracer.directory)
    assert (bare.code, bare.stdout, bare.stderr) == (traced.code, traced.stdout, traced.stderr)
    assert not trace.exists() and list(tracer.directory.iterdir()) == []
