"""A program that cannot be traced says so once, not for each process that it starts."""
import subprocess

import pytest

import harness
import interpreters

NOWHERE = "/proc/nowhere"


def test_the_launcher_says_it_for_its_ranks(tracer):
    traced, trace = tracer.run(harness.program("launches_itself"), LOTUS_DIR=NOWHERE)
    assert traced.code == 0 and len(traced.stdout.split()) == 3
    line, = traced.lotus_lines
    assert f"not tracing process {traced.pid}:" in line
    assert not trace.exists()


def test_two_programs_say_it_twice(tracer):
    runs = [tracer.run(harness.program("launches_itself", "rank"), LOTUS_DIR=NOWHERE)[0] for _ in range(2)]
    assert [len(run.lotus_lines) for run in runs] == [1, 1]


# A CPython whose functions its library has: what it says its version is can be replaced.
SHARED = {name: path for name, path in interpreters.supported().items()
          if "libpython" in subprocess.run(["ldd", path], capture_output=True, text=True).stdout}
SAYS = 'const char *Py_GetVersion(void) {{ return "{}"; }}\n'
# Builds that Lotus does not know, as they name themselves.
UNKNOWN = {"3.14.2 free-threading build (main, Dec  1 2025)": "free-threaded Python 3.14 is not supported",
           "3.15.0a2 free-threading build (main, Dec  1 2025)": "free-threaded Python 3.15 is not supported",
           "3.16.0a1 (main, Dec  1 2026)": "Python is not one of 3.9 to 3.15"}
STARTS = """
import multiprocessing, subprocess, sys
if sys.argv[1:] == ["first"]: import torch
def work(number):
    import torch
    return number
if __name__ == "__main__":
    for method in "fork", "spawn", "forkserver":
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(pool.map(work, range(4), 1))
    for _ in range(2 if sys.argv[1:] == ["first"] else 0):
        subprocess.run([sys.executable, "-c", "import torch"], check=True)
    import torch
"""


def library_that_says(version, directory):
    source = directory / "version.c"
    source.write_text(SAYS.format(version))
    library = directory / "version.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


@pytest.mark.skipif(not SHARED, reason="no Python whose library is a file of its own")
@pytest.mark.parametrize("imports", ["first", "last"])
@pytest.mark.parametrize("version", UNKNOWN)
def test_an_interpreter_that_is_refused_says_it_once(version, imports, tracer):
    """Whichever process meets it first, and however they are started."""
    python = SHARED[max(SHARED, key=lambda name: int(name.split(".")[1]))]
    (tracer.directory / "torch.py").write_text("class Tensor: pass\n")
    program = tracer.directory / "starts.py"
    program.write_text(STARTS)
    quiet = {"PYTHONPATH": tracer.directory, "PYTHONWARNINGS": "ignore"}
    bare = harness.run([python, program, imports], **quiet)
    environment = tracer.environment(**quiet)
    environment["LD_PRELOAD"] = f"{environment['LD_PRELOAD']} {library_that_says(version, tracer.directory)}"
    traced = harness.run([python, program, imports], **environment)
    assert traced.visible == bare.visible and traced.code == 0
    line, = traced.lotus_lines
    assert line.startswith("lotus: not tracing process ") and line.endswith(f": {UNKNOWN[version]}")
    assert not tracer.segments.exists()
